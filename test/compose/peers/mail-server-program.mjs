import { SMTPServer } from 'smtp-server'

// Prints the e-mails that it accepts, one line of JSON each.

new SMTPServer({
  authOptional: true,
  disableReverseLookup: true,
  hideSTARTTLS: true,
  onData(stream, { envelope }, callback) {
    let content = ''
    stream.on('data', chunk => {
      content += chunk
    })
    stream.on('end', () => {
      const subject = /^Subject: (.*)$/m.exec(content)?.[1]
      console.log(JSON.stringify({ to: envelope.rcptTo.map(({ address }) => address), subject }))
      callback()
    })
  },
}).listen(2525)
