{"journal":1,"store":"e064dcd7dae5cfaa","first":"0000000000000014","salt":"941d52f859e642f4","crc":"f4eb5810"}
