import { join } from 'node:path'
import { loadSecrets as loadSecretsFrom, type Secrets } from '@eyrie/kit/secrets'

export type { Secrets }

/** Loads the key of management from the appliance's data folder. The first call creates the key. */
export const loadSecrets = (data: string): Secrets =>
  loadSecretsFrom(join(data, 'secrets', 'management-key'))
