{"journal":1,"store":"96cb07333726d91b","first":"0000000000000001","salt":"fca9be15b676c621","crc":"1e9c92be"}
{"lsn":1,"batch":1,"op":"create","path":"/chat","at":1794827319934,"file":"chat.jsonl","pos":0,"from":0,"lens":[],"stream":{"streamId":"03f076fa5758335c","readSeq":0,"contentType":"application/json","isJson":true,"lifetime":{"kind":"forever"},"inheritsLifetime":false,"fork":null,"close":false},"bytes":0,"crc":"eef505ef"}

{"lsn":2,"batch":2,"op":"append","path":"/chat","at":1794827319979,"file":"chat.jsonl","pos":0,"from":0,"lens":[8],"bytes":8,"crc":"c0755a63"}
{"n":1}

{"lsn":3,"batch":2,"op":"sign","path":"/chat","file":"chat.jsonl.checkpoints","pos":0,"bytes":973,"crc":"191c7439"}
{"timestamp":"2026-11-16T11:08:39.996Z","thread_id":"streams:/chat","event_type":"checkpoint","payload":{"turn":0,"byte_offset":0,"hash":"80753aa7c28eb5bb0d12b4da0076588249d2558d222478f5fe0c604b76d3b776","sig":"dZT6iAae9CIIWRNdHsrP-PrY2x7Nle9hxyEJePBaOn_Rp3ReJjcaecGKL-0Y43HJnav1N-JsznvPy4d6b7_hCw==","fp":"baf70515e63d9ccb","ts":"2026-11-16T11:08:40.009Z","v":2,"kind":"genesis","log":"80753aa7c28eb5bb0d12b4da00765882","seq":0,"prev":"0000000000000000000000000000000000000000000000000000000000000000","seg":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","tree":{"size":0,"root":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},"rev":0,"kid":"ec028cccb26f69cd56fa1fc7840eebaf4eb653c5c5608db471d2da18a7b332b8","salt":"0d2dfe39bf12992834407621bdc72a4ef6f14f6556c95dc7642c3397492c9c01","parts":64,"from":null,"found":null,"vouched":false,"sig2":"FPPgpuW7yqFmfC8IhOTjcsNq9lSwS3OSrd-npnjN3uWH3qU65Hjze_9PeN26IRweEJ6bjMCRo5GA4WfotWUCBA"}}

{"lsn":4,"batch":4,"op":"append","path":"/chat","at":1794827320049,"file":"chat.jsonl","pos":8,"from":8,"lens":[8],"bytes":8,"crc":"2a383865"}
{"n":2}

{"lsn":5,"batch":5,"op":"create","path":"/fork","at":1794827320073,"file":"fork.jsonl","pos":0,"from":16,"lens":[],"stream":{"streamId":"421b57d39d1a671e","readSeq":0,"contentType":"application/json","isJson":true,"lifetime":{"kind":"forever"},"inheritsLifetime":true,"fork":{"source":"/chat","at":"0000000000000000_0000000000000016","subOffset":0},"close":false},"bytes":0,"crc":"ad1b18f0"}

{"lsn":6,"batch":6,"op":"sign","path":"/chat","file":"chat.jsonl.checkpoints","pos":973,"bytes":846,"crc":"1402a187"}
{"timestamp":"2026-11-16T11:08:40.154Z","thread_id":"streams:/chat","event_type":"checkpoint","payload":{"turn":1,"byte_offset":16,"hash":"206a5d961b38fbd1cc38926c1f8e542c2e5206baec5284ea35c988eed48353b7","sig":"QkqjJSlyPkPGoI2zDx2J8n0_wtWmireL9mMngbH2vH-EIIN0sezqU7oJzYdWvEMma5obHVeoz7g1BFVYe9OYBA==","fp":"baf70515e63d9ccb","ts":"2026-11-16T11:08:40.154Z","v":2,"kind":"batch","log":"80753aa7c28eb5bb0d12b4da00765882","seq":1,"prev":"3e8f2d9a390ef11db8f3449c889f7ba178aa36653abbef0d51205a5b64dd9ca8","seg":"7d8fd6ef6149af7c59b8fcbe65cb199553ef948e7bc6b14d96434462fbf634b2","tree":{"size":2,"root":"0c7f1b5d824209ce3c23782b2b53883ef185c6012d5e39217c2d3893b2ce7081"},"rev":0,"kid":"ec028cccb26f69cd56fa1fc7840eebaf4eb653c5c5608db471d2da18a7b332b8","sig2":"kGO_oVvH0Ejr1KWxXJowoNBg41Ewd9jY0o6rbz_Cb_beN3Yol4Ns4nySZQii3OIDCMzDWu2rxng7OeXvTtPGCQ"}}

{"lsn":7,"batch":7,"op":"sign","path":"/fork","file":"fork.jsonl.checkpoints","pos":0,"bytes":1101,"crc":"b787ff2f"}
{"timestamp":"2026-11-16T11:08:40.167Z","thread_id":"streams:/fork","event_type":"checkpoint","payload":{"turn":0,"byte_offset":0,"hash":"f0751618bd3606fe8788258bf77c061617263758689fad42b95f1005e935c477","sig":"xwSYC2XfP25Ro-eE1GBaYdXVxdXtd1UTzA5MgTcOo04A_dloGT_oU643-flgG8TIzyQGkqEwmIpYtadyUQV6Aw==","fp":"baf70515e63d9ccb","ts":"2026-11-16T11:08:40.168Z","v":2,"kind":"genesis","log":"f0751618bd3606fe8788258bf77c0616","seq":0,"prev":"0000000000000000000000000000000000000000000000000000000000000000","seg":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","tree":{"size":0,"root":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},"rev":0,"kid":"ec028cccb26f69cd56fa1fc7840eebaf4eb653c5c5608db471d2da18a7b332b8","salt":"d84f7e21a02aab4c4a87af7912d64204bae58c58cddee709a60392d2ccc3c851","parts":64,"from":{"log":"80753aa7c28eb5bb0d12b4da00765882","seq":1,"line":"6f6c1d7bb98aa0bc4932df4bfdc25076e13df7125fc0f92f823fe8632aeb3488","at":16},"found":null,"vouched":false,"sig2":"Fn2NhERz1Siff8ZGLIKdLfkj9XK8CQwWvvWGS9C8gI7OeuE_WAnFmCHZQIt8V1xpWoOcLAe0_X7O5fziATxFDw"}}

{"lsn":8,"batch":8,"op":"append","path":"/fork","at":1794827320234,"file":"fork.jsonl","pos":0,"from":16,"lens":[8],"bytes":8,"crc":"4bc2ba7a"}
{"n":3}

{"lsn":9,"batch":9,"op":"create","path":"/closed","at":1794827320244,"file":"closed.jsonl","pos":0,"from":0,"lens":[],"stream":{"streamId":"db221e90f0126777","readSeq":0,"contentType":"application/json","isJson":true,"lifetime":{"kind":"forever"},"inheritsLifetime":false,"fork":null,"close":false},"bytes":0,"crc":"6583f802"}

{"lsn":10,"batch":10,"op":"append","path":"/closed","at":1794827320281,"file":"closed.jsonl","pos":0,"from":0,"lens":[8],"close":true,"bytes":8,"crc":"b5909d50"}
{"n":1}

{"lsn":11,"batch":10,"op":"sign","path":"/closed","file":"closed.jsonl.checkpoints","pos":0,"bytes":975,"crc":"a2a02e67"}
{"timestamp":"2026-11-16T11:08:40.282Z","thread_id":"streams:/closed","event_type":"checkpoint","payload":{"turn":0,"byte_offset":0,"hash":"d5e51773a9504e42253438310f1a6774b066e4164213f028ff83cba352a4fdbb","sig":"pxwGl8_o_a4kUvyFjOiTENnoIQWTq-yy6SzrH_agAAlG-KDbzWvhL83zVpD-wrqXMjYvXtBbCkKz26aUQ0ovCQ==","fp":"baf70515e63d9ccb","ts":"2026-11-16T11:08:40.282Z","v":2,"kind":"genesis","log":"d5e51773a9504e42253438310f1a6774","seq":0,"prev":"0000000000000000000000000000000000000000000000000000000000000000","seg":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","tree":{"size":0,"root":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},"rev":0,"kid":"ec028cccb26f69cd56fa1fc7840eebaf4eb653c5c5608db471d2da18a7b332b8","salt":"6d92c6cb9dda55fad31ff115519a91cb39dadc33d877d6b00c872b8d50a37446","parts":64,"from":null,"found":null,"vouched":false,"sig2":"rpcZguF7rLl9b2PQNi3YoZ1aUMVfCuZVx2MW3QhNQdo_aThTCtXlqb6UC8GyDt8Mt5XUkbciEauKQ4g4jUq0Bg"}}

