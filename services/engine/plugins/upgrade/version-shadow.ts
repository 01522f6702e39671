import type { ShadowComparison, ShadowReport } from '@eyrie/contract/plugin-upgrade'
import type { RunningShadow } from '../../plugin-host/running-shadow.ts'
import { judgeShadow } from '../../plugin-host/shadow/shadow-verdict.ts'
import { type ShadowRun, ShadowRuns } from '../../upgrade/shadow-runs.ts'

/** A version of a plugin that runs in shadow. */
export interface VersionShadow {
  plugin: string
  active: string
  version: string
  seconds: number
  running: RunningShadow
}

export type VersionShadows = ShadowRuns<ShadowComparison, ShadowReport>

export const createVersionShadows = (): VersionShadows =>
  new ShadowRuns({
    endCommand: plugin => `eyrie plugin shadow ${plugin} --end`,
    describeMissing: plugin =>
      `no version of ${plugin} has run in shadow since the engine was started`,
  })

export const toShadowRun = ({
  plugin,
  active,
  version,
  seconds,
  running,
}: VersionShadow): ShadowRun<ShadowComparison, ShadowReport> => ({
  label: `version ${version} of ${plugin}`,
  seconds,
  compare: running.compare,
  end: running.end,
  toReport: (progress, channels) => ({
    ...{ plugin, active, version, ...progress, channels },
    ...judgeShadow({ active, version }, channels),
  }),
})
