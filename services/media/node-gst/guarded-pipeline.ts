import { addon } from './addon.ts'
import { createCallbackError, type Message } from './message.ts'
import type { RingFeed, RingFrame } from './pipeline.ts'
import type { Ring } from './ring.ts'
import type { Sample, SampleOptions, SampleStream } from './sample.ts'

/**
 * A pipeline whose callbacks may throw. An exception that reached the addon would end the process,
 * and with it all other pipelines. It becomes an `error` message instead, as if the appsink had
 * failed, and the appsink has no reader any more. After an exception while a message is handled,
 * the `error` message has no source, because the pipeline as a whole has failed.
 */
export class GuardedPipeline extends addon.Pipeline {
  readonly #onMessage: (message: Message) => void

  constructor(launch: string, onMessage: (message: Message) => void) {
    super(launch, message => {
      try {
        onMessage(message)
      } catch (exception) {
        onMessage({ type: 'error', source: '', error: createCallbackError(null, exception) })
      }
    })
    this.#onMessage = onMessage
  }

  override samples(
    sink: string,
    options: SampleOptions,
    onSample: (sample: Sample) => void,
  ): SampleStream {
    const stream = super.samples(sink, options, sample => {
      try {
        onSample(sample)
      } catch (exception) {
        sample.release()
        this.#closeReader(stream, sink, exception)
      }
    })
    return stream
  }

  override toRing(sink: string, ring: Ring, onFrame: (frame: RingFrame) => void): RingFeed {
    const feed = super.toRing(sink, ring, frame => {
      try {
        onFrame(frame)
      } catch (exception) {
        this.#closeReader(feed, sink, exception)
      }
    })
    return feed
  }

  #closeReader(reader: { close(): void }, sink: string, exception: unknown) {
    reader.close()
    const error = createCallbackError(sink, exception)
    this.#onMessage({ type: 'error', source: sink, error })
  }
}
