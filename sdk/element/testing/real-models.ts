import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { Element } from '../define.ts'
import { decodeResult, type EncodedResult } from '../encoded-result.ts'
import type { Picture } from '../frame.ts'
import type { ElementInfer } from '../infer.ts'
import type { HostedPicture, ModelHostReply, ModelHostRequest } from './model-host-messages.ts'

/** Runs models in tests, with the code and the limits of the engine. */

/** The command of the program that runs models, as JSON. `eyrie plugin test` sets it. */
const COMMAND = 'EYRIE_MODEL_HOST'

/** Whether this test can run models: it runs under `eyrie plugin test`. */
export const hasRealModels = (): boolean => process.env[COMMAND] !== undefined

type Process = Element['process']

/** The models that the manifest of the plugin declares. */
export interface RealModels {
  infer: ElementInfer
  /** Returns a function that calls `process` and gives the models the picture of each frame meanwhile. */
  host(process: Process): Process
  close(): void
}

/** Loads the models. Rejects with the reason. */
export async function openRealModels(): Promise<RealModels> {
  const command = process.env[COMMAND]
  if (command === undefined)
    throw new Error(
      'real models run under "eyrie plugin test" only: run the tests with it, or skip this one unless hasRealModels()',
    )
  const { request, close } = startModelHost(JSON.parse(command))
  await request({ type: 'open' })
  let frameNumber: number | undefined
  return {
    infer: async (model, { frame, region, thresholds } = {}) => {
      const n = frame ? frame.n : frameNumber
      return decodeResult((await request({ type: 'infer', model, n, region, thresholds })) as EncodedResult)
    },
    host: process => async (frame, picture) => {
      const { n } = frame
      frameNumber = n
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

/** Starts the program. It ends with this process, and does not keep it running. */
function startModelHost([program, ...args]: [string, ...string[]]) {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const input = child.stdin as Socket
  const output = child.stdout as Socket
  const pending = new Map<number, PromiseWithResolvers<unknown>>()
  let lastId = 0
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
  // If the program ends, 'close' follows, and its own output says why.
  input.on('error', () => {})
  const fail = () => {
    for (const reply of pending.values()) reply.reject(new Error('the program that runs models has ended'))
    pending.clear()
  }
  child.on('error', fail)
  child.on('close', fail)

  return {
    request(message: Unnumbered<ModelHostRequest>): Promise<unknown> {
      const id = ++lastId
      const reply = Promise.withResolvers<unknown>()
      pending.set(id, reply)
      // The process runs as long as something waits for a reply.
      output.ref()
      input.write(`${JSON.stringify({ id, ...message })}\n`)
      return reply.promise
    },
    close: () => input.end(),
  }
}
