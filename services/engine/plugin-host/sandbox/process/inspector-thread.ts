import { Session } from 'node:inspector'
import { Socket } from 'node:net'
import { encodeMessage, MESSAGE_KIND, MessageDecoder } from './message-stream.ts'
import { INSPECTOR_SOCKET } from './process-descriptors.ts'

/**
 * Entry point of the thread that connects a debugger with the main thread of its process. While the
 * main thread is paused, it cannot serve the debugger itself. The messages of the debugger come
 * from the engine through a socket.
 */

/** A request of the Chrome DevTools Protocol. */
export interface InspectorCommand {
  id: number
  method: string
  params?: object
}

/** A message from the engine. */
export type ToInspector =
  | { type: 'connect' }
  | { type: 'disconnect' }
  | { type: 'command'; command: InspectorCommand }

/** Error codes of JSON-RPC, which the protocol follows. */
const SERVER_ERROR = -32_000
const INVALID_REQUEST = -32_600

const socket = new Socket({ fd: INSPECTOR_SOCKET, readable: true, writable: true })
// The engine is trusted: its messages may have any length.
const decoder = new MessageDecoder(new Map([[MESSAGE_KIND.request, Number.POSITIVE_INFINITY]]))
let session: Session | undefined

socket.on('data', bytes => {
  for (const { body } of decoder.decode(bytes)) receive(JSON.parse(String(body)))
})
// The event `close` follows.
socket.on('error', () => {})
socket.on('close', () => session?.disconnect())

function receive(message: ToInspector): void {
  switch (message.type) {
    case 'connect':
      connect()
      break
    case 'disconnect':
      // Resumes the main thread if it is paused.
      session?.disconnect()
      break
    case 'command':
      execute(message.command)
      break
  }
}

function connect(): void {
  session?.disconnect()
  session = new Session()
  session.connectToMainThread()
  session.on('inspectorNotification', send)
}

function execute({ id, method, params }: InspectorCommand): void {
  try {
    session?.post(method, params, (error, result) => {
      if (error) send({ id, error: { code: SERVER_ERROR, message: error.message } })
      else send({ id, result })
    })
  } catch (error) {
    send({ id, error: { code: INVALID_REQUEST, message: (error as Error).message } })
  }
}

/** Sends an answer or a notification of the protocol. */
function send(message: object): void {
  socket.write(encodeMessage(MESSAGE_KIND.answer, message))
}
