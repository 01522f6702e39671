import { createLog } from '@eyrie/kit'
import { localEngineEgress } from '../../../../test/fixtures/network/local-egress.ts'
import { alertSubscriber } from '../../alerts/evaluate-messages.ts'
import type { ConnectionTarget } from '../../db/connection.ts'
import { createDatabase } from '../../db/database.ts'
import { createFleet } from '../../fleet/fleet.ts'
import { createLeases } from '../../leases/leases.ts'
import { loadSecrets } from '../../secrets/secrets.ts'
import { createIngest } from './ingest.ts'

/** Process that runs the fleet of the management service until it is killed. */
const [target, data] = process.argv.slice(2) as [string, string]
const log = createLog('management', 'error')
const database = await createDatabase(JSON.parse(target) as ConnectionTarget)
const fleet = createFleet({
  onCondition: () => {},
  // The same after each restart, so that the process goes on with its own lease at once.
  leases: createLeases({ instance_id: '00000000-0000-8000-8000-000000000001', host_name: '', log }),
  secrets: loadSecrets(data),
  egress: localEngineEgress,
  createIngest: database => createIngest({ database, subscribers: [alertSubscriber], log }),
  log,
})
fleet.start(database)
