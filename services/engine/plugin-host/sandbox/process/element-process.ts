import { Socket } from 'node:net'
import { dirname } from 'node:path'
import { describeError } from '@eyrie/element/error-location'
import { receiveDescriptor } from '@eyrie/kit/descriptors/descriptors'
import { RingReader } from '../../../frames/ring-reader.ts'
import type { FromElement, ToElement } from '../../protocol/element-messages.ts'
import { PictureReader } from '../../protocol/picture-reader.ts'
import { serveElement } from '../../protocol/serve-element.ts'
import { toLogFields } from './log-fields.ts'
import { encodeMessage, findKind, MESSAGE_KIND, MessageDecoder } from './message-stream.ts'
import { DESCRIPTOR_SOCKET, MESSAGE_SOCKET } from './process-descriptors.ts'

/**
 * Entry point of the sandboxed process in which an element of an uploaded plugin runs. Everything
 * that the process may use, it receives from the engine: messages through one socket, the frame
 * rings of its channel through another.
 */

/** Folder of the plugin, known when it is loaded. */
let folder: string | undefined

const socket = new Socket({ fd: MESSAGE_SOCKET, readable: true, writable: true })
const decoder = new MessageDecoder(new Map([[MESSAGE_KIND.request, Number.POSITIVE_INFINITY]]))

function send(message: FromElement): void {
  const sent =
    message.type === 'log' ? { ...message, fields: toLogFields(message.fields, folder) } : message
  socket.write(encodeMessage(findKind(message), sent))
}

const handleMessage = serveElement({
  send,
  end: () => process.exit(),
  pictures: new PictureReader(() => {
    const descriptor = receiveDescriptor(DESCRIPTOR_SOCKET)
    if (descriptor === undefined) throw new Error('the engine has not sent the ring')
    return new RingReader(descriptor)
  }),
})

socket.on('data', bytes => {
  for (const { body } of decoder.decode(bytes)) {
    const message: ToElement = JSON.parse(String(body))
    if (message.type === 'load') folder = dirname(message.entry)
    handleMessage(message)
  }
})
// The engine has ended.
socket.on('error', () => process.exit())
socket.on('close', () => process.exit())

process.on('uncaughtException', error => {
  const message: FromElement = { type: 'crashed', message: describeError(error, folder) }
  socket.end(encodeMessage(MESSAGE_KIND.answer, message), () => process.exit(1))
})
