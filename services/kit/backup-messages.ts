import { z } from 'zod'

// Messages between management, which requests backups, and the supervisor, which writes them.
// Management itself may not read the files of the other services.

/** A message by which management requests a backup. */
export const backupRequest = z.strictObject({
  backup_request: z.strictObject({ id: z.uuid(), passphrase: z.string().min(1) }),
})
export type BackupRequest = z.infer<typeof backupRequest>

/**
 * A message by which management releases the backup with this id. The supervisor stops writing it,
 * or deletes the finished file.
 */
export const backupRelease = z.strictObject({ backup_release: z.uuid() })
export type BackupRelease = z.infer<typeof backupRelease>

/** The answer of the supervisor: the path of the finished backup, or why it failed. */
export const backupAnswer = z.strictObject({
  backup_answer: z.strictObject({
    id: z.uuid(),
    path: z.string().optional(),
    problem: z.string().optional(),
  }),
})
export type BackupAnswer = z.infer<typeof backupAnswer>
