import { onTestFinished } from 'vitest'
import { type Message, Pipeline, type Sample, type SampleOptions } from './index.ts'

/** Generous, because a passing test does not wait for it, and a busy machine may take this long. */
const DEADLINE_MS = 60_000

type Typed<T extends Message['type']> = Extract<Message, { type: T }>

/** A pipeline with its messages. It is disposed of after the test. */
export interface Launched {
  pipeline: Pipeline
  messages: Message[]
  /** Resolves to the first message of this type, which may have arrived already. */
  message<T extends Message['type']>(type: T): Promise<Typed<T>>
}

/** Creates a pipeline from a launch string. */
export function launch(description: string): Launched {
  const messages: Message[] = []
  let arrival = Promise.withResolvers<void>()
  const pipeline = new Pipeline(description, message => {
    messages.push(message)
    arrival.resolve()
    arrival = Promise.withResolvers()
  })
  onTestFinished(() => pipeline.dispose())

  return {
    pipeline,
    messages,
    async message(type) {
      for (;;) {
        const received = messages.find(message => message.type === type)
        if (received) return received as Typed<typeof type>
        await arrival.promise
      }
    },
  }
}

/** Plays until the end of the stream and returns the mapped samples of the appsink named `sink`. */
export async function collect<T>(
  description: string,
  map: (sample: Sample) => T,
  options: SampleOptions = { queue: 4, full: 'block' },
): Promise<T[]> {
  const { pipeline, message } = launch(description)
  const collected: T[] = []
  pipeline.samples('sink', options, sample => {
    collected.push(map(sample))
    sample.release()
  })
  await pipeline.setState('playing')
  await message('eos')
  return collected
}

/** Polls in every turn of the event loop until the condition holds. Throws after the deadline. */
export async function until(condition: () => boolean, description: string): Promise<void> {
  const end = performance.now() + DEADLINE_MS
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not within ${DEADLINE_MS} ms: ${description}`)
    await new Promise(resolve => setImmediate(resolve))
  }
}
