import { z } from 'zod'

/**
 * Who may call an operation. `anyone`: no authentication. `signed-in`: every verified user. `view`: users with a role.
 * `manage`: managers and above. `administer`: administrators of an organization and above. `own`: the superadmin.
 */
export type Access = 'anyone' | 'signed-in' | 'view' | 'manage' | 'administer' | 'own'

/** An operation of the management API. The server, its OpenAPI document, clients and tests are derived from it. */
export interface ManagementRoute {
  method: 'get' | 'post'
  /** Under `/api/v1`. */
  path: string
  summary: string
  access: Access
  /** A POST without side effects, which API tokens with a read scope may call. */
  readOnly?: true
  /** Requires a user session. API tokens are rejected, so that a token cannot create further credentials. */
  requiresSession?: true
  /** Query of a GET; mutually exclusive with `body`. */
  query?: z.ZodObject
  body?: z.ZodObject
  /** Read-only fields that a body may contain, so that a client can send back a record that it has read. They are ignored. */
  ignoredFields?: readonly string[]
  /** Name of the multipart form field for a file upload, which replaces the JSON body. */
  fileField?: string
  /** Media types in which the file may also be sent as the request body. */
  fileTypes?: readonly string[]
  /** Status of a successful response. */
  status: 200 | 201
  /** The status is 202 if the response may be stale. */
  mayBeStale?: true
  /** The `response` field of the envelope; null if nothing is returned. Absent if the response is a file. */
  response?: z.ZodType | null
  /** Media type of a file response. */
  responseType?: string
  /** The operation that returns a created record, for the `Location` header, and the name of its id parameter. */
  readBack?: { path: string; by: string }
}

export const route = <const R extends ManagementRoute>(description: R) => description

/** The envelope of every response. */
export const envelope = <Response extends z.ZodType>(response: Response) =>
  z.object({ message: z.string(), response, response_code: z.int() })

/** The `response` field of the envelope if the request is not valid. */
export const fieldErrors = z.object({ fields: z.array(z.object({ field: z.string(), reason: z.string() })) })
export type FieldErrors = z.infer<typeof fieldErrors>
