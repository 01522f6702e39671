import type { ModelCard } from '@eyrie/contract/model'
import { env, InferenceSession, Tensor } from 'onnxruntime-node'
import { findOutput, type HeadTensor } from './head-output.ts'

/** Execution providers of ONNX Runtime that Eyrie can use. */
export type Provider = 'cpu' | 'cuda'

export interface Size {
  width: number
  height: number
}

// What is wrong comes as an exception; the library's own lines on stderr would only say it again.
env.logLevel = 'fatal'
// Its telemetry is on by default: it would keep an identifier of this machine and tell its maker of every model.
process.env.ORT_DISABLE_TELEMETRY = '1'

/**
 * Opens a model for one thread: inference scales by running several of them side by side, and threads of ONNX
 * Runtime that spin while they wait would take the cores from one another.
 */
export async function openSession(model: Uint8Array, provider: Provider = 'cpu'): Promise<InferenceSession> {
  try {
    return await InferenceSession.create(model, {
      executionProviders: [provider],
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      logSeverityLevel: 4,
      extra: { session: { intra_op: { allow_spinning: '0' } } },
    })
  } catch (error) {
    const { message } = error as Error
    if (/protobuf parsing failed/i.test(message)) throw new Error('it is not an ONNX model')
    throw new Error(`ONNX Runtime cannot load it: ${message}`)
  }
}

/** A tensor for one picture of this size over memory of its own; 8-bit pixels are written to its `data`. */
export function inputTensor(input: ModelCard['input'], { width, height }: Size): Tensor {
  const dims = input.layout === 'nchw' ? [1, 3, height, width] : [1, height, width, 3]
  const values = 3 * width * height
  return input.dtype === 'uint8'
    ? new Tensor('uint8', new Uint8Array(values), dims)
    : new Tensor('float32', new Float32Array(values), dims)
}

/**
 * Runs the model once on an even grey picture and answers the output that its head decodes. Throws an Error that says
 * how the model and its card differ.
 */
export async function trialRun(
  session: InferenceSession,
  card: Pick<ModelCard, 'head' | 'labels' | 'input'>,
  size: Size = card.input,
): Promise<HeadTensor> {
  const { inputNames } = session
  if (inputNames.length !== 1 || inputNames[0] !== card.input.name)
    throw new Error(`its inputs are ${inputNames.join(', ')}; it should have only ${card.input.name}`)
  const tensor = inputTensor(card.input, size)
  ;(tensor.data as Uint8Array | Float32Array).fill(card.input.fill)
  return findOutput(card, await session.run({ [card.input.name]: tensor }).catch(cannotRun), size)
}

function cannotRun(error: Error): never {
  throw new Error(`ONNX Runtime cannot run it: ${error.message}`)
}
