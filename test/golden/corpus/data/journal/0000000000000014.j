{"journal":1,"store":"f4a17da17235a9bc","first":"0000000000000014","salt":"33f4d9014b1676e1","crc":"744c72f9"}
