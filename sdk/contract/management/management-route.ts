import { z } from 'zod'

/**
 * Who may call an operation:
 * - `anyone`: every client, without authentication
 * - `signed-in`: every verified user
 * - `view`: users with a role
 * - `manage`: managers and higher roles
 * - `administer`: administrators of an organization and higher roles
 * - `own`: the superadmin
 */
export type Access = 'anyone' | 'signed-in' | 'view' | 'manage' | 'administer' | 'own'

/**
 * An operation of the management API. The server, its OpenAPI document, clients and tests are
 * derived from routes.
 */
export interface ManagementRoute {
  method: 'get' | 'post'
  /** Relative to `/api/v1`. */
  path: string
  /** What the operation does, as a short phrase. Messages quote it. */
  summary: string
  /** More about the operation, as whole sentences. */
  description?: string
  access: Access
  /** A POST operation without side effects. API tokens with a read scope may call it. */
  readOnly?: true
  /**
   * Rejects API tokens, so that a token cannot create further credentials. The caller
   * needs a user session, or no credentials at all if the route is open to anyone.
   */
  requiresSession?: true
  /** Query of a GET operation. A route has a query or a body, not both. */
  query?: z.ZodObject
  body?: z.ZodObject
  /**
   * Read-only fields that are ignored in the body, so that a client can send back a
   * record as it was read.
   */
  ignoredFields?: readonly string[]
  /** Name of the multipart form field of a file upload. The route then has no JSON body. */
  fileField?: string
  /** Media types in which the file can also be sent as the request body itself. */
  fileTypes?: readonly string[]
  /**
   * The response has the ETag of the record. With `If-Match`, an operation that changes the record
   * fails (412) if somebody else has changed it since.
   */
  hasEtag?: true
  /** Status of a successful response. */
  status: 200 | 201
  /** A response that may be stale has the status 202. */
  mayBeStale?: true
  /**
   * The `response` field of the envelope; null if the operation returns nothing. Absent if
   * the response is a file.
   */
  response?: z.ZodType | null
  /** Media type of a file response. */
  responseType?: string
  /**
   * The operation that returns a created record, and its id parameter. The `Location`
   * header refers to it.
   */
  readBack?: { path: string; by: string }
}

/**
 * Returns the route unchanged. The parameter type checks the route, the return type
 * preserves its literal types.
 */
export const route = <const R extends ManagementRoute>(definition: R) => definition

/** The envelope of every response. */
export const envelope = <Response extends z.ZodType>(response: Response) =>
  z.object({ message: z.string(), response, response_code: z.int() })

/** The `response` field of the envelope if the request is invalid. */
export const fieldErrors = z.object({
  fields: z.array(z.object({ field: z.string(), reason: z.string() })),
})
export type FieldErrors = z.infer<typeof fieldErrors>
