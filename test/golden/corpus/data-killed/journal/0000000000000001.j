{"journal":1,"store":"f9dc3da7013b004a","first":"0000000000000001","salt":"416f547d6f44cf50","crc":"8a6edb67"}
{"lsn":1,"batch":1,"op":"create","path":"/chat","at":1794837704607,"file":"chat.jsonl","pos":0,"from":0,"lens":[],"stream":{"streamId":"8814c1419f71db09","readSeq":0,"contentType":"application/json","isJson":true,"lifetime":{"kind":"forever"},"inheritsLifetime":false,"fork":null,"close":false},"bytes":0,"crc":"ad5defcd"}

{"lsn":2,"batch":2,"op":"append","path":"/chat","at":1794837704617,"file":"chat.jsonl","pos":0,"from":0,"lens":[8],"bytes":8,"crc":"92393c89"}
{"n":1}

{"lsn":3,"batch":2,"op":"sign","path":"/chat","file":"chat.jsonl.checkpoints","pos":0,"bytes":973,"crc":"28901dd1"}
{"timestamp":"2026-11-16T14:01:44.621Z","thread_id":"streams:/chat","event_type":"checkpoint","payload":{"turn":0,"byte_offset":0,"hash":"208b4cc99211e890aea49938574f83ad28bbc86746519d18ed72db8f5e23fe9d","sig":"24HU54htcMKJbIjfFK9mVG1IKgNUNzcjT0LQXcJHzvGahQ4FGDNm8yhvm5pVnHSCspDR_OVTGZ1jV3i4sm72Bg==","fp":"081efd41701bbd84","ts":"2026-11-16T14:01:44.621Z","v":2,"kind":"genesis","log":"208b4cc99211e890aea49938574f83ad","seq":0,"prev":"0000000000000000000000000000000000000000000000000000000000000000","seg":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","tree":{"size":0,"root":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},"rev":0,"kid":"37f5f86e6ef21cf794801b2920f9474d61ba2f7f53ae7bdccc2d3ff302d83f76","salt":"7d9b89c8ea907f773eac939d30b1a8d0059e3be531a1a0743cbe115ec669947e","parts":64,"from":null,"found":null,"vouched":false,"sig2":"fl3U0tQFBxe2fc-9V_2CnFT_T6u920APDcCOKE9K1uEmkt82Alan4AMYWmLKjtHpOhEF8elYPFnaiM3MpD6uCA"}}

{"lsn":4,"batch":4,"op":"append","path":"/chat","at":1794837704627,"file":"chat.jsonl","pos":8,"from":8,"lens":[8],"bytes":8,"crc":"f9104adf"}
{"n":2}

{"lsn":5,"batch":5,"op":"create","path":"/fork","at":1794837704630,"file":"fork.jsonl","pos":0,"from":16,"lens":[],"stream":{"streamId":"a996d42af18dd253","readSeq":0,"contentType":"application/json","isJson":true,"lifetime":{"kind":"forever"},"inheritsLifetime":true,"fork":{"source":"/chat","at":"0000000000000000_0000000000000016","subOffset":0},"close":false},"bytes":0,"crc":"61a1a112"}

{"lsn":6,"batch":6,"op":"sign","path":"/chat","file":"chat.jsonl.checkpoints","pos":973,"bytes":846,"crc":"6204efec"}
{"timestamp":"2026-11-16T14:01:44.643Z","thread_id":"streams:/chat","event_type":"checkpoint","payload":{"turn":1,"byte_offset":16,"hash":"b0615eec3ccfb0ff1fd5bde41b64c7bd2d42ed235ffa00e933dce98f7e0eb06d","sig":"CTRVeOL5E94vMaGWO2fHq00AV_wrd1nSclX7LVeJSnuDm316ea0AHFl_IBjhS9m-e37wW4A80D_PF_PkYywmCw==","fp":"081efd41701bbd84","ts":"2026-11-16T14:01:44.643Z","v":2,"kind":"batch","log":"208b4cc99211e890aea49938574f83ad","seq":1,"prev":"43b40026e782d9f19dbab50922f3ba5e05dee65e72a370385a370fd0a572255e","seg":"133761fb62584f2adc256c687148d08a63ce5c6bc8c43b2f23215630d379e836","tree":{"size":2,"root":"be8438bf2cce1d8097328663352563f2ad2523d7121cedfe8bbcdbdf2e3c71a6"},"rev":0,"kid":"37f5f86e6ef21cf794801b2920f9474d61ba2f7f53ae7bdccc2d3ff302d83f76","sig2":"7LLlsMqm3DotFIZlX45oAoNUT1KLkg3U-gIddwNfOabl303cNTTYCVayTPJhctmPgCdpc1WGfGLOtRSroH61DA"}}

{"lsn":7,"batch":7,"op":"sign","path":"/fork","file":"fork.jsonl.checkpoints","pos":0,"bytes":1101,"crc":"8c166aba"}
{"timestamp":"2026-11-16T14:01:44.648Z","thread_id":"streams:/fork","event_type":"checkpoint","payload":{"turn":0,"byte_offset":0,"hash":"70044159c6a242d234974c07e336f97f3aa677c7fe4a9fe71f7c395107630226","sig":"NWT92MNUVPAmXD4sGtNl_bc85GENN-AadhuIQz1wShSGnX_nGRw7oX-aQGz2u5H44bPZ4JRczrewxIaFA1YGAQ==","fp":"081efd41701bbd84","ts":"2026-11-16T14:01:44.648Z","v":2,"kind":"genesis","log":"70044159c6a242d234974c07e336f97f","seq":0,"prev":"0000000000000000000000000000000000000000000000000000000000000000","seg":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","tree":{"size":0,"root":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},"rev":0,"kid":"37f5f86e6ef21cf794801b2920f9474d61ba2f7f53ae7bdccc2d3ff302d83f76","salt":"abed104d34ff8b168105094156d9359b8706e0cfad42ffd4ca3a0d288c6625aa","parts":64,"from":{"log":"208b4cc99211e890aea49938574f83ad","seq":1,"line":"0845d4476881e96a73ef6499e3484846affe325e0e18e6929c7c0644dbb11db0","at":16},"found":null,"vouched":false,"sig2":"6GbfUMnuCXkkvef3KrUJevWAZ3zV5Vc_nb8OdVscdPeRpmdV5HLNPONoa76UczhfTmqz_9CEW75fmrxaQzvVAA"}}

{"lsn":8,"batch":8,"op":"append","path":"/fork","at":1794837704653,"file":"fork.jsonl","pos":0,"from":16,"lens":[8],"bytes":8,"crc":"285aedfc"}
{"n":3}

{"lsn":9,"batch":9,"op":"create","path":"/closed","at":1794837704657,"file":"closed.jsonl","pos":0,"from":0,"lens":[],"stream":{"streamId":"ae4680786cb9aa23","readSeq":0,"contentType":"application/json","isJson":true,"lifetime":{"kind":"forever"},"inheritsLifetime":false,"fork":null,"close":false},"bytes":0,"crc":"f69b311c"}

{"lsn":10,"batch":10,"op":"append","path":"/closed","at":1794837704661,"file":"closed.jsonl","pos":0,"from":0,"lens":[8],"close":true,"bytes":8,"crc":"139c2a8c"}
{"n":1}

{"lsn":11,"batch":10,"op":"sign","path":"/closed","file":"closed.jsonl.checkpoints","pos":0,"bytes":975,"crc":"57a096fd"}
{"timestamp":"2026-11-16T14:01:44.662Z","thread_id":"streams:/closed","event_type":"checkpoint","payload":{"turn":0,"byte_offset":0,"hash":"563b977fc45312f3b423728745d02fffdadf61e9877620eeecec499b9baca94b","sig":"j7MHMKOkCHAAGllUBnkcuUsYufqFqXhBvOu77R3QKrYUpmwngc7n_8i5QzdTUyrskUBC2bPBGTaW6G3t3IUbDw==","fp":"081efd41701bbd84","ts":"2026-11-16T14:01:44.662Z","v":2,"kind":"genesis","log":"563b977fc45312f3b423728745d02fff","seq":0,"prev":"0000000000000000000000000000000000000000000000000000000000000000","seg":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","tree":{"size":0,"root":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},"rev":0,"kid":"37f5f86e6ef21cf794801b2920f9474d61ba2f7f53ae7bdccc2d3ff302d83f76","salt":"9a5bf04d2a0735cbf4f6e943223b79c989dd9cc111478f555c49ed64b1bc4a5c","parts":64,"from":null,"found":null,"vouched":false,"sig2":"FjXe9Y-st5xW_i_CcVchbfSKg8u-M5FBCrDVTvl1INv7r_EIwuSmupJhYKWxgfhCgJltbx_DFiDS_3ESMg4UDQ"}}

