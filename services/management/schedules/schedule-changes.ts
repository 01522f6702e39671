import { type ChangeSignal, createChangeSignal } from '../db/change-signal.ts'

/** The channel of Postgres on which the trigger `announce_schedules` announces changes. */
const SCHEDULE_CHANNEL = 'eyrie_schedule'

/** Notices that schedules, their exceptions, or the time zones of their sites have changed. */
export type ScheduleChanges = ChangeSignal

export const createScheduleChanges = (): ScheduleChanges => createChangeSignal(SCHEDULE_CHANNEL)
