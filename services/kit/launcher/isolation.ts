import type { Isolation } from '@eyrie/contract/health'
import { describeMissing, type LaunchReport } from './launch-report.ts'

/** Whether the boundaries around a launched program are in force, and what is missing. */
export function toIsolation(report: LaunchReport): Isolation {
  if ('error' in report) return { level: 'none', missing: [report.error] }
  const { missing } = report
  const hasNone = missing.includes('files') && missing.includes('system calls')
  const level = missing.length === 0 ? 'full' : hasNone ? 'none' : 'partial'
  return { level, missing: missing.map(describeMissing) }
}
