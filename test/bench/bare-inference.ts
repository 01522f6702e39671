import { readFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { createInputTensor, openSession, runTrial } from '@eyrie/model-store/session'
import { createDetectionDecoder } from '../../services/engine/inference/detection-decoder.ts'
import type { InferenceTask } from './inference.bench.ts'

/**
 * A worker thread that runs a model on one picture and posts how often it did: between `start` and
 * `stop`, or as many times as a number in the message says.
 */
const { card, file, size, picture, thresholds } = workerData as InferenceTask

const session = await openSession(readFileSync(file))
const output = (await runTrial(session, card)).name
const detect = createDetectionDecoder(card)
const tensor = createInputTensor(card.input, size)
;(tensor.data as Uint8Array).set(picture)
const content = { x: 0, y: 0, ...size }

let running = false

parentPort!.on('message', async (message: 'start' | 'stop' | number) => {
  running = message !== 'stop'
  if (!running) return
  const max = message === 'start' ? Number.POSITIVE_INFINITY : Number(message)
  let count = 0
  while (running && count < max) {
    const values = (await session.run({ [card.input.name]: tensor }))[output]!.data as Float32Array
    detect({ values, inputWidth: size.width, inputHeight: size.height }, content, thresholds)
    count++
  }
  parentPort!.postMessage(count)
})
parentPort!.postMessage('ready')
