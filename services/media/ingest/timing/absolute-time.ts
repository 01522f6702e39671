import type { CameraClock } from '@eyrie/contract'
import type { Pipeline, Sample } from '../../node-gst/index.ts'
import type { Clock } from '../../runtime/clock.ts'
import type { Origin } from '../origin/origin.ts'
import { createCaptureClock } from './capture-clock.ts'
import { newestRtpPacket, type Reception } from './rtp-statistics.ts'

/** Keeps the wall clock at a pipeline's running time 0, by which its pictures get their absolute time. */
export interface AbsoluteTime {
  /** The pipeline plays: its clock can be read. */
  begin(): void
  /** To be called with each packet. */
  packet(sample: Sample): void
  received(reception: Reception): void
  clock(): CameraClock
}

export interface AbsoluteTimeOptions {
  pipeline: Pipeline
  origin: Pick<Origin, 'live' | 'timeline'>
  /** 90 kHz ticks of stream time at running time 0. */
  ptsOffset: number
  clock: Clock
}

/** How often this machine's wall clock is looked at, which may be set. */
const FOLLOW_MS = 1000
/** Far less than pictures are apart, so that their times grow. */
const STEP_US = 2000
/** What is further off is put right at once. */
const LEAP_US = 1_000_000
/** A camera that takes longer from picture to packet counts its time wrongly. */
const LONGEST_DELAY_US = 10_000_000
/** The first pairs are taken one by one, later ones now and then. */
const FIRST_PAIRS = 32
const LATER_PAIRS_EVERY = 10

export function createAbsoluteTime({
  pipeline,
  origin,
  ptsOffset,
  clock,
}: AbsoluteTimeOptions): AbsoluteTime {
  const { begins = 0, anchorUs: givenUs } = origin.timeline ?? {}
  const capture = createCaptureClock()
  const beginsUs = (begins * 100) / 9
  let anchorUs = givenUs ?? arrivalAt(0, clock.wall())
  let followedAt = clock.now()
  let packets = 0
  let byCamera = false
  let heardAt = clock.now()
  pipeline.setTimeline({ timeAnchorUs: anchorUs })

  /** Wall clock at running time 0, when a picture of the beginning is taken at this running time. */
  function arrivalAt(runningNs: number, wallMs: number): number {
    return Math.round(wallMs * 1000 - runningNs / 1000 - beginsUs)
  }

  /**
   * The same by both clocks as they are now; undefined while the pipeline has none. The wall clock is read first: what passes
   * between them, on a machine that has other things to do, makes pictures older, and never such that are yet to be taken.
   */
  function arrivalNow(): number | undefined {
    const wallMs = clock.wall()
    const runningNs = pipeline.runningTime()
    return runningNs === null ? undefined : arrivalAt(runningNs, wallMs)
  }

  function put(us: number) {
    anchorUs = Math.round(us)
    pipeline.setTimeline({ timeAnchorUs: anchorUs })
  }

  /**
   * No picture is taken after it has come: where one seems to be, the others of this stream came late, too, such as those
   * of the group of pictures that a server sends first.
   */
  function keepFromFuture({ timeUs }: Sample) {
    const aheadUs = (timeUs ?? 0) - clock.wall() * 1000
    if (aheadUs > 0) put(anchorUs - Math.ceil(aheadUs))
  }

  function pair({ pts }: Sample) {
    if (pts === null || (packets++ >= FIRST_PAIRS && packets % LATER_PAIRS_EVERY !== 0)) return
    const newest = newestRtpPacket(pipeline)
    if (newest) capture.packet(pts - ptsOffset, newest.rtp)
  }

  /** Goes after the camera's clock, or where it has none that can be made use of, after the times of arrival. */
  function follow() {
    const arrivalUs = arrivalNow()
    if (arrivalUs === undefined) return
    const captureUs = capture.anchorUs()
    byCamera = captureUs !== undefined && arrivalUs - captureUs < LONGEST_DELAY_US
    const targetUs = byCamera ? Math.min(captureUs!, arrivalUs) : arrivalUs
    const offUs = targetUs - anchorUs
    put(anchorUs + (Math.abs(offUs) > LEAP_US ? offUs : Math.max(-STEP_US, Math.min(STEP_US, offUs))))
  }

  return {
    begin() {
      const arrivalUs = arrivalNow()
      if (arrivalUs !== undefined && givenUs === undefined) put(arrivalUs)
    },

    packet(sample) {
      if (!origin.live) return
      if (origin.timeline) return keepFromFuture(sample)
      pair(sample)
      const due = byCamera ? 0 : FOLLOW_MS
      if (clock.now() - followedAt < due) return
      followedAt = clock.now()
      follow()
    },

    received({ report }) {
      const unheardMs = clock.now() - heardAt
      heardAt = clock.now()
      if (report) capture.report(report, clock.wall() * 1000, unheardMs * 1000)
    },

    clock() {
      if (givenUs !== undefined) return { source: 'sender' }
      const skewUs = capture.skewUs()
      return {
        source: byCamera ? 'rtcp' : 'arrival',
        ...(skewUs !== undefined && { skew_s: Math.round(skewUs / 1000) / 1000 }),
      }
    },
  }
}
