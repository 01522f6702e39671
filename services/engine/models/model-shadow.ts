import type { ModelShadowComparison } from '@eyrie/contract/model-upgrade'
import type { InferencePool } from '../inference/inference.ts'
import type { ObservedDetection } from '../inference/inference-client.ts'
import { ShadowRunner } from '../upgrade/shadow-runner.ts'
import type { DetectorListener, OpenDetector } from './detector-monitor.ts'
import { type MeasuredDetection, ModelTally } from './model-tally.ts'

export interface ModelShadowOptions {
  /** Name of the model that runs in shadow. */
  candidate: string
  /** Starts the inference worker for this model. */
  startPool(): Promise<InferencePool>
}

/** A detector of the active model, and the detector of the candidate that is compared with it. */
interface ShadowedDetector {
  runner: ShadowRunner<ShadowDetector>
  tally: ModelTally
}

/** A detector of the candidate. */
interface ShadowDetector {
  /** Runs on the frame of a detection of the active model. Resolves with the objects and the CPU time of the inference. */
  detect(active: ObservedDetection): Promise<MeasuredDetection>
  close(): void
}

/**
 * Runs a candidate model in shadow: on the frames that the detectors of the active model have processed, in a worker of
 * its own. Its results are only compared.
 */
export class ModelShadow implements DetectorListener {
  readonly #options: ModelShadowOptions
  readonly #pool: Promise<InferencePool>
  readonly #detectors = new Map<OpenDetector, ShadowedDetector>()
  readonly #tallies: ModelTally[] = []

  constructor(options: ModelShadowOptions) {
    this.#options = options
    this.#pool = options.startPool()
    // Each detector reports the failure when it is opened.
    this.#pool.catch(() => {})
  }

  compare(): ModelShadowComparison[] {
    return this.#tallies.map(tally => tally.summarize())
  }

  onOpen(detector: OpenDetector): void {
    const tally = this.#findTally(detector.client.channel)
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
   * Returns the comparison for a detector of this channel. A detector that is closed and opened again continues its
   * comparison; several open detectors of a channel have one each.
   */
  #findTally(channel: number): ModelTally {
    const used = new Set([...this.#detectors.values()].map(({ tally }) => tally))
    const unused = this.#tallies.find(tally => tally.channel === channel && !used.has(tally))
    if (unused) return unused
    const tally = new ModelTally(channel)
    this.#tallies.push(tally)
    return tally
  }

  async #openCandidate({ request, client }: OpenDetector): Promise<ShadowDetector> {
    const pool = await this.#pool
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
        // The observer is called before `detect` resolves, and frames are processed one at a time.
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
