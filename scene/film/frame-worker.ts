/**
 * A worker thread that renders its band of the shared backdrop, and then complete frames on
 * request.
 */
import { parentPort, workerData } from 'node:worker_threads'
import type { Backdrop } from '../picture/backdrop.ts'
import { Scene } from '../picture/scene.ts'
import type { FrameRequest, FrameWorkerData, RenderedFrame } from './render-frames.ts'

const { options, backdrop, band, bands } = workerData as FrameWorkerData
const port = parentPort!
const scene = new Scene(options)
scene.renderBackdrop(backdrop as Backdrop, band, bands)
port.postMessage('ready')

port.on('message', ({ n, rgb }: FrameRequest) => {
  while (scene.simulation.frame < n) scene.simulation.step()
  const objects = scene.paint(backdrop, rgb)
  const result: RenderedFrame = { n, rgb, objects }
  port.postMessage(result, [rgb.buffer])
})
