import { z } from 'zod'

/**
 * The error codes of the APIs, each with its default HTTP status, its meaning and the
 * remedy of the caller.
 */
export const ERROR_TABLE = {
  syntax: {
    status: 400,
    meaning: 'The request is malformed',
    remedy: 'Correct the field or parameter that the reason names',
  },
  license: {
    status: 400,
    meaning: 'The license is not valid',
    remedy: 'Use a license from the configured license pool',
  },
  auth: {
    status: 401,
    meaning: 'Authentication is missing or invalid',
    remedy: 'Send Authorization: Bearer <token> with a valid token',
  },
  activation: {
    status: 403,
    meaning: 'The engine is not activated',
    remedy: 'POST a license to /activation',
  },
  rights: {
    status: 403,
    meaning:
      'Your role, your assignments or the scopes of your API token do not permit this operation',
    remedy: 'Follow the reason, which names what is required; an administrator can assign it',
  },
  proxy: {
    status: 403,
    meaning:
      'The request came through a proxy that is not trusted, or that does not name its client',
    remedy:
      'Set EYRIE_TRUSTED_PROXIES to the address of the proxy, and configure the proxy as in docs/guide/proxy.md',
  },
  signature: {
    status: 403,
    meaning:
      'The plugin package is not signed by a trusted publisher, or was changed after it was signed',
    remedy: 'Follow the reason; see docs/guide/plugins.md',
  },
  id: {
    status: 404,
    meaning: 'The resource does not exist',
    remedy: 'Check the id: list the resources to see which exist',
  },
  method: {
    status: 405,
    meaning: 'The path does not support this method',
    remedy: 'Use one of the methods in the Allow header',
  },
  reference: {
    status: 409,
    meaning: 'Other resources reference this resource',
    remedy: 'Delete those resources first, or use ?force=true',
  },
  conflict: {
    status: 409,
    meaning: 'The request conflicts with the current state of the resource',
    remedy: 'Resolve the conflict that the reason describes',
  },
  capacity: {
    status: 409,
    meaning: 'The machine does not have enough capacity',
    remedy: 'Reduce the load as described in value, or use ?override=capacity',
  },
  grant: {
    status: 409,
    meaning: 'The plugin version asks for more than the plugin was granted',
    remedy: 'Check what the reason lists. If you agree, repeat the request with "grant": true',
  },
  precondition: {
    status: 412,
    meaning: 'The resource has changed since it was read',
    remedy: 'Read the resource again and repeat the change',
  },
  camera: {
    status: 422,
    meaning: 'The camera delivers no picture',
    remedy: 'Follow the reason, then test the camera again',
  },
  size: {
    status: 413,
    meaning: 'The request is too large',
    remedy: 'Reduce the request to the limit that the reason names',
  },
  type: {
    status: 415,
    meaning: 'The Content-Type is not supported',
    remedy: 'Send the Content-Type that the reason names',
  },
  internal: {
    status: 500,
    meaning: 'An internal error occurred',
    remedy: 'Report the error together with the log of the service',
  },
  unavailable: {
    status: 503,
    meaning: 'A required component is unavailable',
    remedy: 'Retry after the number of seconds in Retry-After',
  },
} as const satisfies Record<string, { status: number; meaning: string; remedy: string }>

export type ErrorCode = keyof typeof ERROR_TABLE

const ERROR_CODES = Object.keys(ERROR_TABLE) as [ErrorCode, ...ErrorCode[]]

/** The body of every error response. */
export const errorBody = z
  .strictObject({
    code: z.enum(ERROR_CODES),
    reason: z.string().meta({ description: 'What is wrong and how to correct it, for humans' }),
    value: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'Details of the error, for programs' }),
  })
  .meta({ id: 'Error' })
export type ErrorBody = z.infer<typeof errorBody>

/**
 * An error that a service returns to the caller of its API. `status` defaults to the status of its
 * code in `ERROR_TABLE`.
 */
export class EyrieError extends Error {
  readonly code: ErrorCode
  readonly value: Record<string, unknown> | undefined
  readonly status: number

  constructor(
    code: ErrorCode,
    reason: string,
    options: { value?: Record<string, unknown>; status?: number; cause?: unknown } = {},
  ) {
    super(reason, { cause: options.cause })
    this.name = 'EyrieError'
    this.code = code
    this.value = options.value
    this.status = options.status ?? ERROR_TABLE[code].status
  }

  toBody(): ErrorBody {
    return { code: this.code, reason: this.message, ...(this.value && { value: this.value }) }
  }
}
