import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

// A mail server in a process of its own: prints the ports of SMTP and of HTTP, and answers GET with
// the time in ms from each event to the moment at which its e-mail was accepted.

/** The time of the event in the text of an e-mail. */
const TIME = /^Time: (\S+Z)\s*$/m
const latencies: number[] = []

const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  disableReverseLookup: true,
  onData(stream, _session, callback) {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      callback(null)
      const [, time] = TIME.exec(Buffer.concat(chunks).toString()) ?? []
      latencies.push(Date.now() - Date.parse(time ?? ''))
    })
  },
})
const http = createServer((_, response) => response.end(JSON.stringify(latencies)))

const listener = smtp.listen(0, '127.0.0.1', () =>
  http.listen(0, '127.0.0.1', () => {
    const ports = [listener, http].map(server => (server.address() as AddressInfo).port)
    console.log(ports.join(' '))
  }),
)
