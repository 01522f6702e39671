import { createInterface } from 'node:readline'
import { z } from 'zod'
import type { Stack } from '../stack.ts'
import { startPeer } from './peer.ts'

const NAME = 'mail'
const PORT = 2525
const PROGRAM = 'mail-server-program.mjs'

const mail = z.object({ to: z.array(z.string()), subject: z.string() })

/** An SMTP server that accepts all e-mails. */
export interface MailServer {
  /** Settings with which management sends e-mails to it. */
  settings: object
  /** The e-mails that it has accepted. */
  accepted: z.infer<typeof mail>[]
}

export async function startMailServer(stack: Stack): Promise<MailServer> {
  const command = ['node', `/peer/${PROGRAM}`]
  const container = await startPeer(stack, { name: NAME, port: PORT, command, file: PROGRAM })
  const accepted: MailServer['accepted'] = []
  createInterface(await container.logs()).on('line', line => {
    // Node may print warnings, too.
    if (line.startsWith('{')) accepted.push(mail.parse(JSON.parse(line)))
  })
  return {
    settings: {
      ...{
        smtp_host: NAME,
        smtp_port: PORT,
        smtp_auth: false,
        smtp_username: '',
        smtp_password: '',
      },
      ...{ smtp_from: 'Eyrie <eyrie@example.com>', smtp_attachment: true },
    },
    accepted,
  }
}
