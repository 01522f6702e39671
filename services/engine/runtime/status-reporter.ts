import type { PipelineStatistics } from '@eyrie/contract/pipeline'
import type { Log } from '@eyrie/kit'
import type { Channel } from '../channels/channel.ts'
import { derivePipelineState, type StateReport } from '../channels/channel-state.ts'
import type { DropCause } from '../channels/frame-statistics.ts'
import type { Publisher } from '../output/message-draft.ts'
import { median, quantile } from '../statistics/quantile.ts'
import { roundToTenths } from '../statistics/round.ts'

const P95 = 0.95

/** The performance of a channel, which is one pipeline on one source. */
export interface ChannelStatistics {
  /** Analysed frames per second over the last 10 s. */
  fps: number
  /** Median time from the decoded frame to the output over the last 10 s, in ms. */
  latency: number
  /** 95th percentile of the latency. */
  latencyP95: number
  /** Frames analysed since the channel started. */
  analysed: number
  /** Frames dropped since the channel started, by cause. */
  dropped: Record<DropCause, number>
}

/** The part of a channel that is reported. */
export type ReportedChannel = Pick<Channel, 'plan' | 'state' | 'statistics'>

export interface StatusReporterOptions {
  channels(): readonly ReportedChannel[]
  publisher: Publisher
  log: Log
}

/**
 * What a state message is about: a channel, or else a pipeline. For a pipeline, `channel`
 * and `source` are null.
 */
interface Subject {
  channel: number | null
  source: number | null
  pipeline: number
}

/**
 * Publishes the states and statistics of channels and pipelines. A state is published and logged
 * only when it changes.
 */
export class StatusReporter {
  readonly #options: StatusReporterOptions
  /**
   * The last published state of each subject. Both are encoded as JSON, so that they can be
   * compared.
   */
  #published = new Map<string, string>()

  constructor(options: StatusReporterOptions) {
    this.#options = options
  }

  pipelineStatistics(id: number): PipelineStatistics {
    const channels = this.#findChannels(id)
    const fps = channels.reduce((sum, { statistics }) => sum + statistics.fps, 0)
    const latency = median(channels.flatMap(({ statistics }) => statistics.latencies))
    const channelStates = channels.map(({ plan, state }) => ({ ...state, source: plan.source }))
    const { state, reason } = derivePipelineState(channelStates)
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
      latencyP95: roundToTenths(quantile(latencies, P95)),
      analysed: totalAnalysed,
      dropped: totalDropped,
    }
  }

  /**
   * Publishes changed states of `pipelines` and their channels. The last states of all other
   * pipelines are deleted.
   */
  publishStates(pipelines: readonly number[]): void {
    const previous = this.#published
    this.#published = new Map()
    const channels = Map.groupBy(this.#options.channels(), ({ plan }) => plan.pipeline)
    for (const id of pipelines) this.#publishChanges(id, channels.get(id) ?? [], previous)
  }

  /** Publishes changed states of one pipeline and its channels. */
  publishPipelineState(pipeline: number): void {
    this.#publishChanges(pipeline, this.#findChannels(pipeline), this.#published)
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

  #findChannels(pipeline: number): ReportedChannel[] {
    return this.#options.channels().filter(({ plan }) => plan.pipeline === pipeline)
  }

  #publishChanges(
    pipeline: number,
    channels: readonly ReportedChannel[],
    previous: ReadonlyMap<string, string>,
  ): void {
    const reports = channels.map(({ plan, state }) => ({ id: plan.id, source: plan.source, state }))
    for (const { id, source, state } of reports) {
      this.#publishIfChanged({ channel: id, source, pipeline }, state, previous)
    }
    const pipelineState = derivePipelineState(
      reports.map(({ source, state }) => ({ ...state, source })),
    )
    this.#publishIfChanged({ channel: null, source: null, pipeline }, pipelineState, previous)
  }

  #publishIfChanged(
    subject: Subject,
    report: StateReport,
    previous: ReadonlyMap<string, string>,
  ): void {
    const key = JSON.stringify(subject)
    const reportText = JSON.stringify(report)
    // Compared before the update, because `previous` may be the map that is updated.
    const isChanged = previous.get(key) !== reportText
    this.#published.set(key, reportText)
    if (isChanged) this.#publishState(subject, report)
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

  /**
   * Operators monitor pipelines, so the states of single channels are logged only at debug level.
   */
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
