import { createLog, readEnvironment } from '@eyrie/kit'
import { describe, expect, it } from 'vitest'
import { startTcpServer } from '../../../test/fixtures/network/tcp-server.ts'
import {
  createClaimedDelivery,
  createSmtpSettings,
  noSettings,
} from '../../../test/fixtures/scheduler/claimed-delivery.ts'
import { startSmtpReceiver } from '../../../test/fixtures/scheduler/smtp-receiver.ts'
import { createManagementClient } from '../management-client/management-client.ts'
import { createSenders } from '../senders/senders.ts'
import { attemptDelivery } from './attempt-delivery.ts'

const FAILED = 'HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n'

describe('an attempt to deliver a message', () => {
  it('sends the message without its picture if management fails to read the picture', async () => {
    const api = await startTcpServer(socket => socket.end(FAILED))
    const mailServer = await startSmtpReceiver({ disabledCommands: ['STARTTLS'] })
    const outcome = await attemptDelivery(
      createClaimedDelivery(
        { action_to: 'guard@example.com' },
        { type: 'email', picture: '0'.repeat(64) },
      ),
      {
        ...noSettings,
        smtp: createSmtpSettings(mailServer.port, { smtp_attachment: true }),
      },
      {
        senders: createSenders(readEnvironment({}), { publicUrl: undefined, maxSmsSegments: 3 }),
        management: createManagementClient(`http://127.0.0.1:${api.port}`, 'secret'),
        timeoutMs: 60_000,
        log: createLog('test', 'silent'),
      },
    )
    expect(outcome).toMatchObject({ state: 'sent' })
    expect(mailServer.emails).toMatchObject([{ to: ['guard@example.com'] }])
    expect(mailServer.emails[0]!.content).not.toContain('picture.jpg')
  })
})
