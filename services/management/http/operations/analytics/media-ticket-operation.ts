import { managementRoutes } from '@eyrie/contract/management/index'
import { openLiveView } from '../../../fleet/live-views.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import { defineMultiStepOperation, type Operation } from '../../api/operation.ts'
import { assertReferencesExist } from '../../api/references.ts'

const { ticket: route } = managementRoutes.media

export const mediaOperations = (secrets: Secrets): Operation[] => [
  defineMultiStepOperation(route, async ({ input, caller, context }, database) => {
    await database.as(caller, route.path, tx => assertReferencesExist(tx, route, input))
    const { ticket, expires_in } = await openLiveView(database, secrets, input.channel_id)
    const address = (form: string, protocol = '') => {
      const url = new URL(`/media/${input.channel_id}/${form}`, context.req.url)
      url.searchParams.set('ticket', ticket)
      if (protocol) url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
      return url.href
    }
    return {
      value: { ticket, expires_in, fmp4: address('fmp4'), ws: address('ws', 'ws'), whep: address('whep') },
    }
  }),
]
