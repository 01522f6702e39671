import type { Isolation } from '@eyrie/contract/health'
import {
  describeMissing,
  type LaunchReport,
  parseReport,
  REPORT_VARIABLE,
} from './launch-report.ts'

/** Whether the boundaries around a launched program are in force, and what is missing. */
export function toIsolation(report: LaunchReport): Isolation {
  if ('error' in report) return { level: 'none', missing: [report.error] }
  const { missing } = report
  const hasNone = missing.includes('files') && missing.includes('system calls')
  const level = missing.length === 0 ? 'full' : hasNone ? 'none' : 'partial'
  return { level, missing: missing.map(describeMissing) }
}

/**
 * The boundaries around this process, as its launcher reports them in `variables`. Without a
 * launcher there are none.
 */
export function readOwnIsolation(variables: NodeJS.ProcessEnv): Isolation {
  const report = variables[REPORT_VARIABLE]
  if (report !== undefined) return toIsolation(parseReport(report))
  return {
    level: 'none',
    missing: [
      'it was not started by the launcher: start it with the supervisor, as make run does, and build the launcher with make setup',
    ],
  }
}
