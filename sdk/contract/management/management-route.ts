import { z } from 'zod'

/**
 * Who may call an operation:
 * `anyone` without signing in; `signed-in` every verified user; `view` users with a role; `manage` managers and above;
 * `administer` administrators of an organization and above; `own` the superadmin.
 */
export type Access = 'anyone' | 'signed-in' | 'view' | 'manage' | 'administer' | 'own'

/** An operation of the management API, as data: the server, its document, its clients and its tests are derived from it. */
export interface ManagementRoute {
  method: 'get' | 'post'
  /** Under `/api/v1`. */
  path: string
  summary: string
  access: Access
  /** Of a POST: it changes nothing, so that an API token which may only read can call it. */
  readOnly?: true
  /** Only for who has signed in: an API token opens no further way in. */
  requiresSession?: true
  /** What a GET is asked by; never together with `body`. */
  query?: z.ZodObject
  body?: z.ZodObject
  /** Fields of the record's answers that a body may repeat, so that what was read can be sent back: they change nothing. */
  ignoredFields?: readonly string[]
  /** Name of the multipart field that carries a file, in place of a JSON body. */
  fileField?: string
  /** Media types in which the file may be the body itself. */
  fileTypes?: readonly string[]
  /** Status of success. */
  status: 200 | 201
  /** It succeeds with 202 where what it shows may be old. */
  mayBeStale?: true
  /** `response` of the envelope; null where nothing is returned. Left out where the answer is a file. */
  response?: z.ZodType | null
  /** Media type of the file that is the answer. */
  responseType?: string
  /** Of a create: the operation that reads the new record, and its parameter. */
  readBack?: { path: string; by: string }
}

export const route = <const R extends ManagementRoute>(description: R) => description

/** The envelope of every answer. */
export const envelope = <Response extends z.ZodType>(response: Response) =>
  z.object({ message: z.string(), response, response_code: z.int() })

/** `response` of an error that lies in the input. */
export const fieldErrors = z.object({ fields: z.array(z.object({ field: z.string(), reason: z.string() })) })
export type FieldErrors = z.infer<typeof fieldErrors>
