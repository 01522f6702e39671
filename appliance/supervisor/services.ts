import { resolve } from 'node:path'

/** One unit of execution: the same list stands in compose.yaml and in the systemd units. */
export interface ServiceUnit {
  name: 'media' | 'engine' | 'management'
  main: string
  /** Variables of the caller's that this service alone is given. */
  variables?: readonly string[]
}

const services = resolve(import.meta.dirname, '../../services')

/** In the order in which they are started. */
export const units: readonly ServiceUnit[] = [
  { name: 'media', main: resolve(services, 'media/main.ts') },
  { name: 'engine', main: resolve(services, 'engine/main.ts') },
  {
    name: 'management',
    main: resolve(services, 'management/main.ts'),
    variables: ['DATABASE_URL', 'EYRIE_ADMIN_EMAIL', 'EYRIE_ADMIN_PASSWORD'],
  },
]
