import { readFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { createInputTensor, openSession, runTrial } from '@eyrie/model-store/session'
import { createDetect } from '../../services/engine/inference/detect.ts'
import type { BareWork } from './inference.bench.ts'

/** A worker thread that runs a model on one picture: until it is told to stop, or as often as it is told; and counts. */
const { card, file, size, picture, thresholds } = workerData as BareWork

const session = await openSession(readFileSync(file))
const output = (await runTrial(session, card)).name
const detect = createDetect(card)
const tensor = createInputTensor(card.input, size)
;(tensor.data as Uint8Array).set(picture)
const content = { x: 0, y: 0, ...size }

let running = false

parentPort!.on('message', async (message: 'start' | 'stop' | number) => {
  running = message !== 'stop'
  if (!running) return
  const most = message === 'start' ? Number.POSITIVE_INFINITY : Number(message)
  let count = 0
  while (running && count < most) {
    const values = (await session.run({ [card.input.name]: tensor }))[output]!.data as Float32Array
    detect({ values, inputWidth: size.width, inputHeight: size.height }, content, thresholds)
    count++
  }
  parentPort!.postMessage(count)
})
parentPort!.postMessage('ready')
