import {
  EyrieError,
  type ModelShadowComparison,
  type ModelShadowInput,
  type ModelShadowReport,
  type ModelUse,
} from '@eyrie/contract'
import type { Log } from '@eyrie/kit/log'
import type { StoredModel } from '@eyrie/model-store'
import type { InferencePool } from '../inference/inference.ts'
import { ShadowRuns } from '../upgrade/shadow-runs.ts'
import type { ActiveModels } from './active-models.ts'
import type { DetectorMonitor } from './detector-monitor.ts'
import { ModelShadow } from './model-shadow.ts'
import { computeLoad, judgeModel } from './model-verdict.ts'

/**
 * Models that run in shadow: on the frames of the active model, without any effect, for a limited
 * time. Their detections are compared with those of the active model.
 */
export interface ModelShadowRuns {
  /**
   * Runs the candidate in shadow. Throws `EyrieError` (`conflict`) if it is active already or may
   * not run, or if another model runs in shadow of the same one.
   */
  start(use: Pick<ModelUse, 'name' | 'active'>, input: ModelShadowInput): ModelShadowReport
  /** Throws `EyrieError` (`id`) if no model has run in shadow. */
  report(name: string): ModelShadowReport
  /** Ends the run, and returns its report. Throws as `report` does. */
  end(name: string): ModelShadowReport
  endIfRunning(name: string): void
  endAll(): void
}

export interface ModelShadowRunsDependencies {
  /** Returns a model that may run. Throws `EyrieError` if there is none of this name. */
  getRunnable(name: string): StoredModel
  active: Pick<ActiveModels, 'get'>
  monitor: Pick<DetectorMonitor, 'listen'>
  inference: Pick<InferencePool, 'workers'>
  startShadowPool(): Promise<InferencePool>
  log: Log
}

export function createModelShadowRuns({
  getRunnable,
  active,
  monitor,
  inference,
  startShadowPool,
  log,
}: ModelShadowRunsDependencies): ModelShadowRuns {
  const runs = new ShadowRuns<ModelShadowComparison, ModelShadowReport>({
    endCommand: name => `eyrie model shadow ${name} --end`,
    describeMissing: name => `no model has run in shadow of ${name} since the engine was started`,
  })

  const start: ModelShadowRuns['start'] = (
    { name, active: activeName },
    { candidate, seconds },
  ) => {
    runs.assertNotRunning(name)
    const { labels: candidateLabels } = getRunnable(candidate).card
    if (activeName === candidate) {
      throw new EyrieError(
        'conflict',
        `model ${candidate} is active already: run another one in shadow`,
      )
    }

    const models = {
      active: { name: activeName, labels: active.get(name)!.card.labels },
      candidate: { name: candidate, labels: candidateLabels },
    }
    const shadow = new ModelShadow({ candidate, startPool: startShadowPool })
    const endListening = monitor.listen(name, shadow)
    const fields = { model: name, active: activeName, candidate }
    log.info({ ...fields, seconds }, 'running model in shadow')
    return runs.start(name, {
      label: `model ${candidate}`,
      seconds,
      compare: () => shadow.compare(),
      end: () => {
        endListening()
        shadow.end()
        log.info(fields, 'ended model in shadow')
      },
      toReport: (progress, channels) => {
        const load = computeLoad(inference.workers, channels)
        return { ...fields, ...progress, channels, load, ...judgeModel(models, { channels, load }) }
      },
    })
  }

  return {
    start,
    report: name => runs.report(name),
    end: name => runs.end(name),
    endIfRunning: name => runs.endIfRunning(name),
    endAll: () => runs.endAll(),
  }
}

/** Throws `EyrieError` (`conflict`) unless the model did at least as well as the active one. */
export function assertNotWorse({
  candidate,
  verdict,
  findings,
}: Pick<ModelShadowReport, 'candidate' | 'verdict' | 'findings'>): void {
  if (verdict === 'unknown') {
    throw new EyrieError(
      'conflict',
      `model ${candidate} has processed no frame in shadow: ` +
        'run it on a channel that has frames, or accept it with force',
    )
  }
  if (verdict === 'worse') {
    throw new EyrieError(
      'conflict',
      `model ${candidate} did worse in shadow: ${findings.join('; ')}. ` +
        'To accept it nevertheless, use force',
    )
  }
}
