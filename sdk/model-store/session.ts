import type { ModelCard } from '@eyrie/contract/model'
import { env, InferenceSession, Tensor } from 'onnxruntime-node'
import { findOutput, type HeadTensor, type Size } from './head-output.ts'
import { assertSelfContained } from './onnx/external-data.ts'

/** Opens and runs models with ONNX Runtime. A session is a loaded model. */

/** Execution providers of ONNX Runtime that Eyrie can use. */
export type Provider = 'cpu' | 'cuda'

/** Fatal errors only. ONNX Runtime throws other errors, and would print them to stderr, too. */
const LOG_LEVEL = { name: 'fatal', number: 4 } as const
env.logLevel = LOG_LEVEL.name

// By default, ONNX Runtime stores an identifier of the machine and reports every loaded
// model to its vendor.
process.env.ORT_DISABLE_TELEMETRY = '1'

/**
 * Loads a model. Throws an `Error` with the reason if the model cannot be loaded, or refers to data
 * outside of the file.
 */
export async function openSession(
  model: Uint8Array,
  provider: Provider = 'cpu',
): Promise<InferenceSession> {
  assertSelfContained(model)
  try {
    return await InferenceSession.create(model, {
      executionProviders: [provider],
      // A single thread. The engine uses several cores by running several sessions in parallel.
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      // Threads that wait must not occupy a core meanwhile.
      extra: { session: { intra_op: { allow_spinning: '0' } } },
      logSeverityLevel: LOG_LEVEL.number,
    })
  } catch (error) {
    const { message } = error as Error
    if (/protobuf parsing failed/i.test(message)) throw new Error('it is not an ONNX model')
    throw new Error(`ONNX Runtime cannot load it: ${message}`)
  }
}

/** Creates an input tensor for one image. The caller writes the pixels to its `data`. */
export function createInputTensor(input: ModelCard['input'], { width, height }: Size): Tensor {
  const dims = input.layout === 'nchw' ? [1, 3, height, width] : [1, height, width, 3]
  // Three colour channels.
  const valueCount = 3 * width * height
  return input.dtype === 'uint8'
    ? new Tensor('uint8', new Uint8Array(valueCount), dims)
    : new Tensor('float32', new Float32Array(valueCount), dims)
}

/**
 * Runs a model once on a uniform grey image and returns the output with the detections. Throws an
 * `Error` if the model does not match its card.
 */
export async function runTrial(
  session: InferenceSession,
  card: Pick<ModelCard, 'head' | 'labels' | 'input'>,
  size: Size = card.input,
): Promise<HeadTensor> {
  const { inputNames } = session
  if (inputNames.length !== 1 || inputNames[0] !== card.input.name) {
    throw new Error(
      `its inputs are ${inputNames.join(', ')}; it should have only ${card.input.name}`,
    )
  }
  const tensor = createInputTensor(card.input, size)
  const pixels = tensor.data as Uint8Array | Float32Array
  pixels.fill(card.input.fill)
  const outputs = await session.run({ [card.input.name]: tensor }).catch((error: Error) => {
    throw new Error(`ONNX Runtime cannot run it: ${error.message}`)
  })
  return findOutput(card, outputs, size)
}
