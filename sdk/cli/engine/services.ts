import type { Terminal } from '../terminal.ts'
import { onThisBox, secretIn } from './connect.ts'

/** Where the services beside the engine are, and how to get in. */
export function servicesBeside({ data, environment = {} }: Pick<Terminal, 'data' | 'environment'>) {
  return {
    media: {
      url: environment.EYRIE_MEDIA_URL || onThisBox(environment.EYRIE_MEDIA_PORT, 8200),
      token: environment.EYRIE_INTERNAL_TOKEN || secretIn(data, 'internal-token'),
    },
    management: {
      url: environment.EYRIE_MANAGEMENT_URL || onThisBox(environment.EYRIE_MANAGEMENT_PORT, 8080),
      token: undefined,
    },
  }
}
