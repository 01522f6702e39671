import { EyrieError } from '@eyrie/contract'
import { REPORT_MEDIA_TYPES } from '@eyrie/contract/management/report'
import { and, eq } from 'drizzle-orm'
import { v7 } from 'uuid'
import type { Database, Transaction } from '../../db/database.ts'
import { reportSchedule, report as reportTable } from '../../db/schema/index.ts'
import { storeDeliveries } from '../../deliveries/outbox.ts'
import { findIncompleteChannels } from '../incomplete-channels.ts'
import { createFileName } from '../report.ts'
import { findLastPeriod } from '../report-period.ts'
import {
  type CreatedFile,
  createReportFile,
  type PlannedReport,
  toRequest,
} from './create-report-file.ts'
import { createReportRequest } from './report-message.ts'
import { findDuePeriods, findLastDay, findSendingTime } from './report-times.ts'
import { readSchedules, type ScheduledReport, toReportTimes } from './scheduled-report.ts'

export interface SentReports {
  sent: number
  /** Names of the reports that could not be created. Their schedules say why. */
  failed: string[]
  /** Names of the reports that wait until all messages about their period are stored. */
  waiting: string[]
}

export interface DueOptions {
  /** Epoch ms. */
  now: number
  /** When this service was started, in epoch ms. */
  startedAt: number
  signal: AbortSignal
}

/**
 * Maximum time for which a report waits for messages. After an outage of the appliance, its engines
 * send what they have counted meanwhile, but an engine may also be broken.
 */
const MAX_WAIT_MS = 3_600_000

/**
 * Stores the e-mails of all scheduled reports that are due, each period once. A report that its
 * owner may not create, or that is too large, is skipped, and the reason is stored in its schedule.
 *
 * A report waits while messages about its period may be missing. After an hour it is sent without
 * them, and says so.
 */
export async function sendDueReports(
  database: Database,
  { now, startedAt, signal }: DueOptions,
): Promise<SentReports> {
  const schedules = await database.system('reports', tx => readSchedules(tx), {
    accessMode: 'read only',
  })
  const result: SentReports = { sent: 0, failed: [], waiting: [] }
  for (const schedule of schedules.filter(({ is_active }) => is_active)) {
    const times = toReportTimes(schedule)
    let lastDay = schedule.last_day
    for (const period of findDuePeriods(times, lastDay, now)) {
      signal.throwIfAborted()
      const planned = { schedule, period, now }
      const deadline = Math.max(findSendingTime(period, times), startedAt) + MAX_WAIT_MS
      if (now < deadline && (await isIncomplete(database, planned))) {
        result.waiting.push(schedule.report_name)
        break
      }
      const progress = { from: lastDay, to: findLastDay(period, times) }
      const isCreated = await sendReport(database, planned, progress)
      if (isCreated) result.sent += 1
      else result.failed.push(schedule.report_name)
      lastDay = progress.to
    }
  }
  return result
}

/**
 * Sends the report about the last complete period, in addition to the reports of the schedule.
 * Returns the id of the first delivery. Throws `EyrieError` like `createReport`, and if the owner
 * of the schedule may not create the report.
 */
export async function sendReportNow(
  database: Database,
  reportScheduleId: string,
  now: number,
): Promise<string> {
  const [schedule] = await database.system('reports', tx =>
    readSchedules(tx, eq(reportSchedule.report_schedule_id, reportScheduleId)),
  )
  if (!schedule) throw new EyrieError('id', 'this scheduled report was deleted')
  const period = findLastPeriod({ count: 1, unit: schedule.report_every }, now, schedule.timeZone)
  const file = await createReportFile(database, { schedule, period, now })
  const ids = await database.system('reports', tx => storeMessages(tx, schedule, file))
  // A schedule has at least one receiver.
  return ids[0]!
}

/** Returns whether messages about the period of a report may be missing. */
async function isIncomplete(
  database: Database,
  { schedule, period, now }: PlannedReport,
): Promise<boolean> {
  const channelIds = await database.system('reports', tx =>
    findIncompleteChannels(tx, toRequest(schedule, period), period, now),
  )
  return channelIds.length > 0
}

/** The `last_day` of a schedule before and after a report. */
interface Progress {
  from: string
  to: string
}

/**
 * Creates a report and stores its e-mails, or stores in its schedule why it could not be created.
 * Returns whether it was created.
 */
async function sendReport(
  database: Database,
  planned: PlannedReport,
  { from, to }: Progress,
): Promise<boolean> {
  const { schedule } = planned
  const { file, problem = '' } = await tryToCreateFile(database, planned)
  await database.system('reports', async tx => {
    // Updates no row if another run has sent the report, or a person has changed the
    // schedule in the meantime.
    const [claimed] = await tx
      .update(reportSchedule)
      .set({ last_day: to, report_problem: problem })
      .where(
        and(
          eq(reportSchedule.report_schedule_id, schedule.report_schedule_id),
          eq(reportSchedule.last_day, from),
          eq(reportSchedule.saved_at, schedule.saved_at),
        ),
      )
      .returning({ last_day: reportSchedule.last_day })
    if (claimed && file) await storeMessages(tx, schedule, file)
  })
  return file !== undefined
}

/**
 * Creates the file of a report. Resolves to a `problem` if it can be created only after a
 * change of the schedule.
 */
async function tryToCreateFile(
  database: Database,
  planned: PlannedReport,
): Promise<{ file?: CreatedFile; problem?: string }> {
  try {
    return { file: await createReportFile(database, planned) }
  } catch (error) {
    if (!(error instanceof EyrieError) || error.code === 'unavailable') throw error
    return { problem: error.message }
  }
}

/** Stores the file with an e-mail to each receiver. Returns the ids of the deliveries. */
async function storeMessages(
  tx: Transaction,
  schedule: ScheduledReport,
  { report, content }: CreatedFile,
): Promise<string[]> {
  const { report_schedule_id, report_format: format, report_to: receivers } = schedule
  const reportId = v7()
  const mediaType = REPORT_MEDIA_TYPES[format]
  await tx.insert(reportTable).values({
    report_id: reportId,
    report_schedule_id,
    content,
    media_type: mediaType,
  })

  const file = {
    report_id: reportId,
    media_type: mediaType,
    file_name: createFileName(report, format),
  }
  const request = createReportRequest(report, {
    file,
    receivers,
    threadKey: report_schedule_id,
  })
  return storeDeliveries(tx, [{ kind: 'report', report_schedule_id, report_id: reportId, request }])
}
