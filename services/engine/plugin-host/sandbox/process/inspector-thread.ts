import { Session } from 'node:inspector'
import { Socket } from 'node:net'
import { encodeMessage, MESSAGE_KIND, MessageDecoder } from './message-stream.ts'
import { INSPECTOR_SOCKET } from './process-descriptors.ts'

/**
 * Connects a debugger with the main thread of this process. It is a thread of its own, because the main thread reads nothing while
 * it is paused.
 */

/** What the engine sends. A command is a message of the Chrome DevTools Protocol. */
export type ToInspector =
  | { type: 'connect' }
  | { type: 'disconnect' }
  | { type: 'command'; command: { id: number; method: string; params?: object } }

const socket = new Socket({ fd: INSPECTOR_SOCKET, readable: true, writable: true })
const decoder = new MessageDecoder(new Map([[MESSAGE_KIND.request, Number.POSITIVE_INFINITY]]))
let session: Session | undefined

/** Sends an answer or a notification of the protocol. */
const send = (message: object) => void socket.write(encodeMessage(MESSAGE_KIND.answer, message))

function receive(message: ToInspector): void {
  if (message.type === 'connect') connect()
  // Resumes the main thread if it is paused.
  else if (message.type === 'disconnect') session?.disconnect()
  else execute(message.command)
}

function connect(): void {
  session?.disconnect()
  session = new Session()
  session.connectToMainThread()
  session.on('inspectorNotification', send)
}

function execute({ id, method, params }: { id: number; method: string; params?: object }): void {
  try {
    session?.post(method, params, (error, result) =>
      send(error ? { id, error: { code: -32_000, message: error.message } } : { id, result }),
    )
  } catch (error) {
    send({ id, error: { code: -32_600, message: (error as Error).message } })
  }
}

socket.on('data', bytes => {
  for (const { body } of decoder.decode(bytes)) receive(JSON.parse(String(body)))
})
socket.on('error', () => {})
socket.on('close', () => session?.disconnect())
