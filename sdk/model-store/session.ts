import type { ModelCard } from '@eyrie/contract/model'
import { env, InferenceSession, Tensor } from 'onnxruntime-node'
import { findOutput, type HeadTensor, type Size } from './head-output.ts'

/** Execution providers of ONNX Runtime that Eyrie can use. */
export type Provider = 'cpu' | 'cuda'

// Errors are thrown as exceptions: the library's own lines on stderr would only repeat them.
env.logLevel = 'fatal'
// Its telemetry is on by default: it stores an identifier of this machine and reports every model to its vendor.
process.env.ORT_DISABLE_TELEMETRY = '1'

/**
 * Opens a model with a single thread. Inference scales by running several sessions in parallel, and spinning threads of
 * ONNX Runtime would compete for the cores.
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

/** Allocates an input tensor for one image. Write its pixels to `data`. */
export function createInputTensor(input: ModelCard['input'], { width, height }: Size): Tensor {
  const dims = input.layout === 'nchw' ? [1, 3, height, width] : [1, height, width, 3]
  const values = 3 * width * height
  return input.dtype === 'uint8'
    ? new Tensor('uint8', new Uint8Array(values), dims)
    : new Tensor('float32', new Float32Array(values), dims)
}

/**
 * Runs the model once on a uniform grey image and returns the output that its head decodes. Throws an `Error` if the
 * model and its card do not match.
 */
export async function runTrial(
  session: InferenceSession,
  card: Pick<ModelCard, 'head' | 'labels' | 'input'>,
  size: Size = card.input,
): Promise<HeadTensor> {
  const { inputNames } = session
  if (inputNames.length !== 1 || inputNames[0] !== card.input.name)
    throw new Error(`its inputs are ${inputNames.join(', ')}; it should have only ${card.input.name}`)
  const tensor = createInputTensor(card.input, size)
  ;(tensor.data as Uint8Array | Float32Array).fill(card.input.fill)
  return findOutput(card, await session.run({ [card.input.name]: tensor }).catch(cannotRun), size)
}

function cannotRun(error: Error): never {
  throw new Error(`ONNX Runtime cannot run it: ${error.message}`)
}
