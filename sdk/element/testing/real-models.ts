import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { Element } from '../define.ts'
import { decodeResult, type EncodedResult } from '../encoded-result.ts'
import type { Picture } from '../frame.ts'
import type { ElementInfer } from '../infer.ts'
import type { HostedPicture, ModelHostReply, ModelHostRequest } from './model-host-messages.ts'

/**
 * Runs models in tests, in a program with the code and the limits of the engine: the model host.
 */

/**
 * The environment variable with the command of the model host, as JSON.
 * `eyrie plugin test` sets it.
 */
const COMMAND_VARIABLE = 'EYRIE_MODEL_HOST'

const HOST_ENDED = 'the program that runs models has ended'

/** Whether this test can run models, because it runs under `eyrie plugin test`. */
export const hasRealModels = (): boolean => process.env[COMMAND_VARIABLE] !== undefined

type ProcessFrame = Element['process']

/** The models that the manifest of the plugin declares. */
export interface RealModels {
  infer: ElementInfer
  /**
   * Returns a function that calls `process`, and provides the models with the picture of the
   * frame in the meantime.
   */
  host(process: ProcessFrame): ProcessFrame
  close(): void
}

/** Starts the model host and loads the models. Rejects with the reason if one cannot be loaded. */
export async function openRealModels(): Promise<RealModels> {
  const command = process.env[COMMAND_VARIABLE]
  if (command === undefined) {
    throw new Error(
      'real models run under "eyrie plugin test" only: run the tests with it, or skip this one unless hasRealModels()',
    )
  }
  const { request, close } = startModelHost(JSON.parse(command))
  await request({ type: 'open' })
  let currentFrame: number | undefined
  return {
    infer: async (model, { frame, region, thresholds } = {}) => {
      const n = frame ? frame.n : currentFrame
      const result = await request({ type: 'infer', model, n, region, thresholds })
      return decodeResult(result as EncodedResult)
    },
    host: process => async (frame, picture) => {
      const { n } = frame
      currentFrame = n
      await request({ type: 'begin', n, picture: picture && encodePicture(picture) })
      try {
        return await process(frame, picture)
      } finally {
        await request({ type: 'end', n })
      }
    },
    close,
  }
}

const encodePicture = ({ width, height, format, data }: Picture): HostedPicture => ({
  width,
  height,
  format,
  data: Buffer.from(data).toString('base64'),
})

type Unnumbered<Request> = Request extends { id: number } ? Omit<Request, 'id'> : never

/** The connection to the model host. */
interface ModelHost {
  /** Sends a request, and returns the value of the reply. Rejects with the error in the reply. */
  request(message: Unnumbered<ModelHostRequest>): Promise<unknown>
  close(): void
}

/** Starts the model host. It ends with this process, and does not keep this process running. */
function startModelHost([program, ...args]: [string, ...string[]]): ModelHost {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const input = child.stdin as Socket
  const output = child.stdout as Socket
  const pending = new Map<number, PromiseWithResolvers<unknown>>()
  let lastId = 0
  // This process keeps running only while it waits for a reply: `request` refers to the output
  // again.
  child.unref()
  input.unref()
  output.unref()

  createInterface({ input: output }).on('line', line => {
    const { id, value, error } = JSON.parse(line) as ModelHostReply
    const reply = pending.get(id)
    pending.delete(id)
    if (pending.size === 0) output.unref()
    if (error === undefined) reply?.resolve(value)
    else reply?.reject(new Error(error))
  })
  // If the model host ends, 'close' follows, and its own output says why.
  input.on('error', () => {})
  let hasEnded = false
  const rejectAll = () => {
    hasEnded = true
    for (const reply of pending.values()) reply.reject(new Error(HOST_ENDED))
    pending.clear()
  }
  child.on('error', rejectAll)
  child.on('close', rejectAll)

  return {
    async request(message) {
      if (hasEnded) throw new Error(HOST_ENDED)
      lastId += 1
      const id = lastId
      const reply = Promise.withResolvers<unknown>()
      pending.set(id, reply)
      output.ref()
      input.write(`${JSON.stringify({ id, ...message })}\n`)
      return reply.promise
    },
    close: () => input.end(),
  }
}
