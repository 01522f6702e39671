import { z } from 'zod'
import { findCronError } from './cron.ts'

/**
 * Jobs that maintain the appliance, such as a backup every night. The scheduler starts them at the
 * times in the settings file, and the management service does their work.
 */

/** The jobs by name, with what they do. */
export const JOBS = {
  retention:
    'Deletes events, statistics, notifications and pictures older than management.retention_days',
  deliveries: 'Discards messages that could not be sent within a day',
  reports: 'Sends scheduled reports whose time has come',
  pictures: 'Deletes files of pictures that no record refers to',
  database:
    'Updates the statistics of large tables, removes dead rows and rebuilds damaged indexes',
  backup: 'Writes an encrypted backup to the folder or the storage of /config/backup',
  expiry: 'Reports licenses and certificates that end soon',
} as const

export type JobName = keyof typeof JOBS

export const JOB_NAMES = Object.keys(JOBS) as [JobName, ...JobName[]]

export const jobName = z.enum(JOB_NAMES)

const SECONDS_PER_HOUR = 3600
const MAX_LIMIT_S = 24 * SECONDS_PER_HOUR
const MAX_JITTER_S = SECONDS_PER_HOUR

/** The default settings of a job. The descriptions are in `createJobSchema`. */
interface JobDefaults {
  schedule: string
  limit_s: number
  jitter_s: number
}

/** Creates the schema of the settings of a job. */
const createJobSchema = (name: JobName, defaults: JobDefaults) =>
  z
    .strictObject({
      schedule: z
        .string()
        .superRefine((text, issues) => {
          const error = text === 'off' ? undefined : findCronError(text)
          if (error) issues.addIssue(`${error}. To disable the job, write off`)
        })
        .default(defaults.schedule)
        .meta({
          description:
            'Cron expression with five fields, in the time zone of the machine, or off. If runs were missed, one run follows as soon as possible',
        }),
      limit_s: z.int().min(1).max(MAX_LIMIT_S).default(defaults.limit_s).meta({
        description: 'Time limit of a run in seconds',
      }),
      jitter_s: z.int().min(0).max(MAX_JITTER_S).default(defaults.jitter_s).meta({
        description:
          'Longest random delay of a run in seconds, so that many appliances do not start at the same moment',
      }),
    })
    .prefault({})
    .meta({ description: JOBS[name] })

/** The section `scheduler.jobs` of the settings file. */
export const jobSettings = z.strictObject({
  retention: createJobSchema('retention', { schedule: '7 * * * *', limit_s: 1800, jitter_s: 60 }),
  deliveries: createJobSchema('deliveries', { schedule: '*/5 * * * *', limit_s: 60, jitter_s: 10 }),
  reports: createJobSchema('reports', { schedule: '*/5 * * * *', limit_s: 1800, jitter_s: 10 }),
  pictures: createJobSchema('pictures', { schedule: '37 3 * * *', limit_s: 3600, jitter_s: 600 }),
  database: createJobSchema('database', { schedule: '23 4 * * sun', limit_s: 7200, jitter_s: 600 }),
  backup: createJobSchema('backup', { schedule: '41 2 * * *', limit_s: 14_400, jitter_s: 600 }),
  expiry: createJobSchema('expiry', { schedule: '11 6 * * *', limit_s: 120, jitter_s: 600 }),
} satisfies Record<JobName, z.ZodType>)
export type JobSettings = z.infer<typeof jobSettings>
