import { describe, expect, it } from 'vitest'
import { findNextRun, type KnownJob } from './job-schedule.ts'

/** Times are local: the tests run in any time zone. */
const at = (text: string) => new Date(`2026-03-04T${text}:00`).getTime()
const iso = (text: string) => new Date(at(text)).toISOString()
const nightly = { schedule: '0 2 * * *', jitter_s: 600 }
const never: KnownJob = { job_state: null, started_at: null, finished_at: null, next_run_at: null }
const finished = (time: string): Partial<KnownJob> => ({
  job_state: 'succeeded',
  started_at: iso(time),
  finished_at: iso(time),
})

describe('the next run of a job', () => {
  it.each<[string, Partial<KnownJob>, string, string | undefined]>([
    ['is the next time of its schedule with the delay', {}, '01:00', '02:05'],
    ['is kept by a restart', { next_run_at: iso('02:07') }, '01:00', '02:07'],
    ['is kept by a restart during the delay', { next_run_at: iso('02:07') }, '02:03', '02:07'],
    ['is in the past if it was missed', { next_run_at: iso('02:07') }, '09:00', '02:07'],
    [
      'is in the past if it was missed once or often',
      { ...finished('01:00'), next_run_at: iso('02:07') },
      '23:00',
      '02:07',
    ],
    [
      'is kept although the last run was stored while the clock was ahead',
      { ...finished('20:00'), next_run_at: iso('02:07') },
      '01:00',
      '02:07',
    ],
    [
      'is planned anew after a run whose start another clock has determined',
      { ...finished('02:09'), next_run_at: iso('02:07') },
      '01:59',
      '02:05',
    ],
    [
      'is earlier than planned if the schedule was edited',
      { next_run_at: iso('20:00') },
      '01:00',
      '02:05',
    ],
    [
      'is now if the last run was interrupted',
      { job_state: 'failed', started_at: iso('02:00') },
      '02:30',
      '02:30',
    ],
  ])('%s', (_, job, now, expected) => {
    const next = findNextRun(nightly, { ...never, ...job }, at(now), () => 0.5)
    expect(next).toBe(expected === undefined ? undefined : at(expected))
  })

  it('is tomorrow after the run of today', () => {
    const job = { ...never, ...finished('02:07'), next_run_at: iso('02:07') }
    expect(findNextRun(nightly, job, at('02:08'), () => 0)).toBe(
      new Date('2026-03-05T02:00:00').getTime(),
    )
  })

  it('does not exist for a job that is off, even if one was missed', () => {
    const off = { schedule: 'off', jitter_s: 0 }
    expect(
      findNextRun(off, { ...never, next_run_at: iso('02:00') }, at('09:00'), () => 0),
    ).toBeUndefined()
  })
})
