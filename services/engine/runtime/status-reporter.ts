import type { PipelineStatistics } from '@eyrie/contract/pipeline'
import type { Log } from '@eyrie/kit'
import type { Channel } from '../channels/channel.ts'
import { derivePipelineState, type StateReport } from '../channels/channel-state.ts'
import { type DropCause, median, quantile } from '../channels/frame-statistics.ts'
import type { Publisher } from '../output/message-draft.ts'

/** What a state message is about: a channel, or a whole pipeline, which has neither channel nor source. */
interface Subject {
  channel: number | null
  source: number | null
  pipeline: number
}

/** `fps` and latencies over the last 10 s. `latency`, `latencyP95`: ms from decoded frame to output. */
export interface ChannelStatistics {
  fps: number
  latency: number
  latencyP95: number
  /** Frames analysed since the channel started. */
  analysed: number
  /** Frames not analysed since the channel started, by cause. */
  dropped: Record<DropCause, number>
}

/** The part of a channel that is reported. */
export type ReportedChannel = Pick<Channel, 'plan' | 'state' | 'statistics'>

export interface StatusReporterOptions {
  channels(): readonly ReportedChannel[]
  publisher: Publisher
  log: Log
}

/** Publishes and logs state changes of channels and pipelines, and provides their statistics. */
export class StatusReporter {
  readonly #options: StatusReporterOptions
  /** The last published state as JSON, by subject. */
  #published = new Map<string, string>()

  constructor(options: StatusReporterOptions) {
    this.#options = options
  }

  pipelineStatistics(id: number): PipelineStatistics {
    const channels = this.#channelsOf(id)
    const fps = channels.reduce((sum, { statistics }) => sum + statistics.fps, 0)
    const latency = median(channels.flatMap(({ statistics }) => statistics.latencies))
    const { state, reason } = derivePipelineState(
      channels.map(({ plan, state }) => ({ ...state, source: plan.source })),
    )
    return {
      status: state,
      fps: roundToTenths(fps),
      latency: roundToTenths(latency),
      ...(reason && { reason }),
    }
  }

  channelStatistics({ statistics }: Pick<Channel, 'statistics'>): ChannelStatistics {
    const { fps, latencies, totalAnalysed, totalDropped } = statistics
    return {
      fps: roundToTenths(fps),
      latency: roundToTenths(median(latencies)),
      latencyP95: roundToTenths(quantile(latencies, 0.95)),
      analysed: totalAnalysed,
      dropped: totalDropped,
    }
  }

  /** Publishes changed states of `pipelines` and their channels. All other pipelines are forgotten. */
  publishStates(pipelines: readonly number[]): void {
    const previous = this.#published
    this.#published = new Map()
    const channels = Map.groupBy(this.#options.channels(), ({ plan }) => plan.pipeline)
    for (const id of pipelines) this.#publishChanges(id, channels.get(id) ?? [], previous)
  }

  /** Publishes changed states of one pipeline and its channels, without evaluating the others. */
  publishPipelineState(pipeline: number): void {
    this.#publishChanges(pipeline, this.#channelsOf(pipeline), this.#published)
  }

  publishStatistics(): void {
    const time = new Date().toISOString()
    for (const channel of this.#options.channels()) {
      const { id, source, pipeline } = channel.plan
      const { fps, latency, latencyP95, dropped } = this.channelStatistics(channel)
      this.#options.publisher.publish({
        channel: id,
        source,
        pipeline,
        pts: null,
        epoch: null,
        time,
        kind: 'stats',
        data: {
          fps,
          latency,
          latency_p95: latencyP95,
          dropped: dropped.overload + dropped.failed,
          dropped_for: { lacking: dropped.overload, failed: dropped.failed },
        },
      })
    }
  }

  #channelsOf(pipeline: number): ReportedChannel[] {
    return this.#options.channels().filter(({ plan }) => plan.pipeline === pipeline)
  }

  #publishChanges(
    pipeline: number,
    channels: readonly ReportedChannel[],
    previous: ReadonlyMap<string, string>,
  ): void {
    const publishIfChanged = (subject: Subject, report: StateReport) => {
      const key = JSON.stringify(subject)
      const text = JSON.stringify(report)
      const isChanged = previous.get(key) !== text
      this.#published.set(key, text)
      if (isChanged) this.#publishState(subject, report)
    }
    const reports = channels.map(({ plan, state }) => ({ id: plan.id, source: plan.source, state }))
    for (const { id, source, state } of reports) publishIfChanged({ channel: id, source, pipeline }, state)
    const pipelineState = derivePipelineState(reports.map(({ source, state }) => ({ ...state, source })))
    publishIfChanged({ channel: null, source: null, pipeline }, pipelineState)
  }

  #publishState(subject: Subject, report: StateReport): void {
    this.#logState(subject, report)
    this.#options.publisher.publish({
      ...subject,
      pts: null,
      epoch: null,
      time: new Date().toISOString(),
      kind: 'state',
      data: { ...report },
    })
  }

  /** Operators follow pipelines; the states of single channels are logged at debug level. */
  #logState({ channel, source, pipeline }: Subject, { state, reason }: StateReport): void {
    const { log } = this.#options
    if (channel !== null) {
      log.debug({ channel, source, pipeline, state, reason }, 'channel state changed')
      return
    }
    const level = state === 'failed' || state === 'degraded' ? 'warn' : 'info'
    log[level]({ pipeline, state, reason }, 'pipeline state changed')
  }
}

const roundToTenths = (value: number) => Math.round(value * 10) / 10
