import type { PipelineStatistics } from '@eyrie/contract/pipeline'
import type { Log } from '@eyrie/kit'
import type { Channel } from '../channels/channel.ts'
import { pipelineState, type State } from '../channels/channel-state.ts'
import { median, quantile } from '../channels/frame-statistics.ts'
import type { Publisher } from '../output/message-draft.ts'

/** Whose state it is; that of a whole pipeline has neither channel nor source. */
interface Subject {
  channel: number | null
  source: number | null
  pipeline: number
}

/** `latency`, `latencyP95`: ms from decoded frame to output; with `fps` over the last 10 s. */
export interface ChannelStatistics {
  fps: number
  latency: number
  latencyP95: number
  /** Frames analysed since the channel started. */
  analysed: number
  /** Frames not analysed since the channel started: for lack of capacity, or because something failed. */
  dropped: { lacking: number; failed: number }
}

/** The part of a channel that is reported. */
export type ReportedChannel = Pick<Channel, 'plan' | 'state' | 'statistics'>

export interface ReporterOptions {
  channels(): readonly ReportedChannel[]
  publisher: Publisher
  log: Log
}

/** Tells how channels and pipelines are: states when they change, numbers when asked. */
export class Reporter {
  readonly #options: ReporterOptions
  #known = new Map<string, string>()

  constructor(options: ReporterOptions) {
    this.#options = options
  }

  pipeline(id: number): PipelineStatistics {
    const channels = this.#channelsOf(id)
    const fps = channels.reduce((sum, { statistics }) => sum + statistics.fps, 0)
    const latency = median(channels.flatMap(({ statistics }) => statistics.latencies))
    const { state, reason } = pipelineState(
      channels.map(({ plan, state }) => ({ ...state, source: plan.source })),
    )
    return { status: state, fps: tenths(fps), latency: tenths(latency), ...(reason && { reason }) }
  }

  channel({ statistics }: Pick<Channel, 'statistics'>): ChannelStatistics {
    const { fps, latencies, analysedInAll, droppedInAll } = statistics
    return {
      fps: tenths(fps),
      latency: tenths(median(latencies)),
      latencyP95: tenths(quantile(latencies, 0.95)),
      analysed: analysedInAll,
      dropped: droppedInAll,
    }
  }

  /** Publishes the states that have changed; what is no longer there is forgotten. */
  announce(pipelines: readonly number[]): void {
    const before = this.#known
    this.#known = new Map()
    const channels = Map.groupBy(this.#options.channels(), ({ plan }) => plan.pipeline)
    for (const id of pipelines) this.#tell(id, channels.get(id) ?? [], before)
  }

  /** The same of one pipeline and its channels alone: with many, most changes concern one. */
  announceOne(pipeline: number): void {
    this.#tell(pipeline, this.#channelsOf(pipeline), this.#known)
  }

  #tell(pipeline: number, channels: readonly ReportedChannel[], before: ReadonlyMap<string, string>): void {
    const tell = (subject: Subject, state: State) => {
      const key = JSON.stringify(subject)
      const text = JSON.stringify(state)
      const known = before.get(key)
      this.#known.set(key, text)
      if (known !== text) this.#publishState(subject, state)
    }
    const states = channels.map(({ plan, state }) => ({ id: plan.id, source: plan.source, state }))
    for (const { id, source, state } of states) tell({ channel: id, source, pipeline }, state)
    const whole = pipelineState(states.map(({ source, state }) => ({ ...state, source })))
    tell({ channel: null, source: null, pipeline }, whole)
  }

  publishStatistics(): void {
    const time = new Date().toISOString()
    for (const channel of this.#options.channels()) {
      const { id, source, pipeline } = channel.plan
      const { fps, latency, latencyP95, dropped } = this.channel(channel)
      this.#options.publisher.publish({
        ...{ channel: id, source, pipeline, pts: null, epoch: null, time },
        kind: 'stats',
        data: {
          fps,
          latency,
          latency_p95: latencyP95,
          dropped: dropped.lacking + dropped.failed,
          dropped_for: { ...dropped },
        },
      })
    }
  }

  #channelsOf(pipeline: number): ReportedChannel[] {
    return this.#options.channels().filter(({ plan }) => plan.pipeline === pipeline)
  }

  /** Pipelines are what an operator follows; their channels say more only when asked. */
  #log({ channel, source, pipeline }: Subject, { state, reason }: State): void {
    const { log } = this.#options
    if (channel === null) {
      const level = state === 'failed' || state === 'degraded' ? 'warn' : 'info'
      log[level](
        `pipeline ${pipeline} ${state === 'failed' ? 'has' : 'is'} ${state}${reason ? `: ${reason}` : ''}`,
      )
    } else {
      log.debug({ channel, source, pipeline, reason }, `channel ${channel} is ${state}`)
    }
  }

  #publishState(subject: Subject, state: State): void {
    this.#log(subject, state)
    const time = new Date().toISOString()
    this.#options.publisher.publish({
      ...subject,
      pts: null,
      epoch: null,
      time,
      kind: 'state',
      data: { ...state },
    })
  }
}

const tenths = (value: number) => Math.round(value * 10) / 10
