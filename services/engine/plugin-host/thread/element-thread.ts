import { parentPort } from 'node:worker_threads'
import { RingReader } from '../../frames/ring-reader.ts'
import { PictureReader } from '../protocol/picture-reader.ts'
import { serveElement } from '../protocol/serve-element.ts'
import { watchBuffers } from './thread-memory.ts'

/**
 * Entry point of the thread in which an element of a trusted plugin runs, separate from the main
 * thread of the engine.
 */

const port = parentPort!
const handleMessage = serveElement({
  send: message => port.postMessage(message),
  end: () => port.close(),
  pictures: new PictureReader(({ path }) => new RingReader(path)),
})
port.on('message', handleMessage)

watchBuffers(message => port.postMessage({ type: 'crashed', message }))
