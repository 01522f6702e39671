import type { ModelShadowComparison } from '@eyrie/contract/model-upgrade'
import type { InferencePool } from '../inference/inference.ts'
import type { ObservedDetection } from '../inference/inference-client.ts'
import { ShadowRunner } from '../upgrade/shadow-runner.ts'
import type { DetectorListener, OpenDetector } from './detector-monitor.ts'
import { type MeasuredDetection, ModelTally } from './model-tally.ts'

export interface ModelShadowOptions {
  /** Name of the model that runs in shadow. */
  candidate: string
  /** Starts the worker that runs this model. */
  startPool(): Promise<InferencePool>
}

/** A detector of the active model, and the detector of the candidate that is compared with it. */
interface ShadowedDetector {
  runner: ShadowRunner<ShadowDetector>
  tally: ModelTally
}

/** A detector of the candidate. */
interface ShadowDetector {
  /**
   * Runs on the frame in which the active model has detected objects. Resolves with the
   * objects of the candidate.
   */
  detect(active: ObservedDetection): Promise<MeasuredDetection>
  close(): void
}

/**
 * Runs a candidate model in shadow: it processes the frames that the active model has processed,
 * and its results are only compared with those of the active model. It runs in a worker of its own.
 * There is one comparison, a tally, for each detector.
 */
export class ModelShadow implements DetectorListener {
  readonly #options: ModelShadowOptions
  readonly #pool: Promise<InferencePool>
  readonly #detectors = new Map<OpenDetector, ShadowedDetector>()
  readonly #tallies: ModelTally[] = []

  constructor(options: ModelShadowOptions) {
    this.#options = options
    this.#pool = options.startPool()
    // If the pool fails to start, each detector reports the failure when it is opened.
    this.#pool.catch(() => {})
  }

  compare(): ModelShadowComparison[] {
    return this.#tallies.map(tally => tally.summarize())
  }

  onOpen(detector: OpenDetector): void {
    const tally = this.#assignTally(detector.client.channel)
    const recorder = {
      recordSkipped: () => tally.recordSkipped(),
      recordFailure: (reason: string) => tally.candidate.recordFailure(reason),
      recordProblem: (problem: string) => {
        tally.problem = problem
      },
    }
    const runner = new ShadowRunner({ open: () => this.#openCandidate(detector), recorder })
    this.#detectors.set(detector, { runner, tally })
  }

  onDetection(detector: OpenDetector, detection: ObservedDetection): void {
    const shadowed = this.#detectors.get(detector)
    if (!shadowed) return
    const { runner, tally } = shadowed
    tally.recordOffer(detection.frame)
    const active = toMeasured(detection)
    runner.offer(async shadow => {
      const candidate = await shadow.detect(detection)
      return () => tally.recordFrame(active, candidate)
    })
  }

  onFailure(detector: OpenDetector, reason: string): void {
    this.#detectors.get(detector)?.tally.active.recordFailure(reason)
  }

  onClose(detector: OpenDetector): void {
    this.#detectors.get(detector)?.runner.close()
    this.#detectors.delete(detector)
  }

  end(): void {
    for (const detector of [...this.#detectors.keys()]) this.onClose(detector)
    // A pool that has failed to start need not be stopped.
    void this.#pool.then(pool => pool.stop()).catch(() => {})
  }

  /**
   * Returns the tally for a new detector of this channel: the one of a closed detector, which the
   * new detector continues, or else a new one.
   */
  #assignTally(channel: number): ModelTally {
    const inUse = new Set([...this.#detectors.values()].map(({ tally }) => tally))
    const unused = this.#tallies.find(tally => tally.channel === channel && !inUse.has(tally))
    if (unused) return unused
    const tally = new ModelTally(channel)
    this.#tallies.push(tally)
    return tally
  }

  async #openCandidate({ request, client }: OpenDetector): Promise<ShadowDetector> {
    const pool = await this.#pool
    /** The detection in the last frame that the candidate has processed. */
    let latest: ObservedDetection | undefined
    const inference = pool.forChannel({
      channel: client.channel,
      pacing: 'realtime',
      priority: () => 0,
      findRing: client.findRing,
      observe: () => ({
        onDetection: detection => {
          latest = detection
        },
        // `detect` rejects with the failure.
        onFailure: () => {},
        onClose: () => {},
      }),
    })
    const { hw, size } = request
    const detector = await inference.open({
      model: this.#options.candidate,
      hw,
      mode: 'a',
      ...(size && { size }),
    })
    // The candidate may read pictures of another size or format.
    const viewRequest = client.requestView?.(detector.view)
    return {
      detect: async ({ frame, thresholds }) => {
        await detector.detect(frame, thresholds)
        // `latest` belongs to this frame: the observer is called before `detect` resolves, and
        // frames do not overlap.
        return toMeasured(latest!)
      },
      close: () => {
        viewRequest?.end()
        detector.close()
      },
    }
  }
}

const toMeasured = ({ detections, cpuMs }: ObservedDetection): MeasuredDetection => ({
  objects: detections.objects,
  cpuMs,
})
