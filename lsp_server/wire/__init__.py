"""The Responses WebSocket, both sides, without a socket: frames in, values out, and back.

`client` is what a client writes and reads, `server` what a server reads, `answer` what it writes,
`lanes` the rules for the streams that share one socket, `errors` the error frames, word for word.
Our two extensions are marked as such: the client event `response.cancel` and the field `stop`.
"""
