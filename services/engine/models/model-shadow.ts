import type { ModelShadowComparison } from '@eyrie/contract/model-upgrade'
import type { Detector } from '@eyrie/element'
import type { InferencePool } from '../inference/inference.ts'
import type { ObservedDetection } from '../inference/inference-client.ts'
import { ShadowRunner } from '../upgrade/shadow-runner.ts'
import type { DetectorReader, OpenDetector } from './detector-monitor.ts'
import { ModelTally } from './model-tally.ts'

/** A detector of the model in shadow, and what it compares. */
interface ShadowedDetector {
  runner: ShadowRunner<ShadowDetector>
  tally: ModelTally
}

/** Detects objects in shadow. Resolves with the detections and the CPU time of the inference. */
interface ShadowDetector {
  detect(active: ObservedDetection): Promise<Pick<ObservedDetection, 'detections' | 'cpuMs'>>
  close(): void
}

export interface ModelShadowOptions {
  /** The model that runs in shadow. */
  candidate: string
  /** Starts the worker of the run. */
  startPool(): Promise<InferencePool>
}

/**
 * Runs a model in shadow: on the frames that the detectors of another model have processed, in a worker of its own. Its results
 * are only compared.
 */
export class ModelShadow implements DetectorReader {
  readonly #options: ModelShadowOptions
  readonly #pool: Promise<InferencePool>
  readonly #detectors = new Map<OpenDetector, ShadowedDetector>()
  readonly #tallies: ModelTally[] = []

  constructor(options: ModelShadowOptions) {
    this.#options = options
    this.#pool = options.startPool()
    // Reported by each detector that fails to open.
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
    const runner = new ShadowRunner({ open: () => this.#openDetector(detector), recorder })
    this.#detectors.set(detector, { runner, tally })
  }

  onDetection(detector: OpenDetector, detection: ObservedDetection): void {
    const shadowed = this.#detectors.get(detector)
    if (!shadowed) return
    const { runner, tally } = shadowed
    tally.recordOffer(detection.frame)
    const active = { objects: detection.detections.objects, cpuMs: detection.cpuMs }
    runner.offer(async shadow => {
      const { detections, cpuMs } = await shadow.detect(detection)
      return () => tally.recordFrame(active, { objects: detections.objects, cpuMs })
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
    void this.#pool.then(pool => pool.stop()).catch(() => {})
  }

  /** Returns the comparison of the channel, which a detector that is opened again continues. */
  #findTally(channel: number): ModelTally {
    const used = new Set([...this.#detectors.values()].map(({ tally }) => tally))
    const unused = this.#tallies.find(tally => tally.channel === channel && !used.has(tally))
    const tally = unused ?? new ModelTally(channel)
    if (!unused) this.#tallies.push(tally)
    return tally
  }

  async #openDetector({ request, client }: OpenDetector): Promise<ShadowDetector> {
    const pool = await this.#pool
    const { channel, findRing } = client
    let cpuMs = 0
    const inference = pool.forChannel({
      channel,
      pacing: 'realtime',
      priority: () => 0,
      findRing,
      observe: () => ({
        onDetection: detection => {
          cpuMs = detection.cpuMs
        },
        onFailure: () => {},
        onClose: () => {},
      }),
    })
    const { hw, size } = request
    const detector: Detector = await inference.open({
      ...{ model: this.#options.candidate, hw, mode: 'a' },
      ...(size && { size }),
    })
    const viewRequest = client.requestView?.(detector.view)
    return {
      detect: async ({ frame, thresholds }) => {
        const detections = await detector.detect(frame, thresholds)
        return { detections, cpuMs }
      },
      close: () => {
        viewRequest?.end()
        detector.close()
      },
    }
  }
}
