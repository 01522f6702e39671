import { z } from 'zod'
import { route } from './management-route.ts'
import { geolocation, key, name, recordId, reference, text } from './record-fields.ts'

/**
 * Organizations in the management API. Organizations have customers, customers have sites,
 * and sites have devices.
 */

/** An organization in a request. */
const organizationInput = z.strictObject({
  organization_key: key,
  organization_name: name,
  organization_description: text,
  organization_icon: text,
  organization_website: text,
  organization_address: z.strictObject({
    organization_area: text,
    organization_city: text,
    organization_country: text,
    organization_geolocation: geolocation,
    organization_state: text,
    organization_street: text,
    organization_unit: text,
    organization_zip: text,
  }),
})

/** An organization in a response. */
export const organization = z
  .object({ organization_id: recordId, ...organizationInput.shape })
  .meta({ id: 'Organization' })
export type Organization = z.infer<typeof organization>

const byId = z.strictObject({ organization_id: reference('organization') })

export const organizationRoutes = {
  create: route({
    method: 'post',
    path: '/organization/create',
    summary: 'Create an organization',
    access: 'own',
    body: organizationInput,
    ignoredFields: ['organization_id'],
    status: 200,
    response: null,
    readBack: { path: '/organization/id', by: 'organization_id' },
  }),

  update: route({
    method: 'post',
    path: '/organization/update',
    summary: 'Update an organization',
    access: 'administer',
    body: organizationInput.extend(byId.shape),
    status: 200,
    response: null,
  }),

  delete: route({
    method: 'post',
    path: '/organization/delete',
    summary: 'Delete an organization',
    access: 'own',
    body: byId,
    status: 200,
    response: null,
  }),

  get: route({
    method: 'get',
    path: '/organization/id',
    summary: 'Get an organization',
    access: 'view',
    query: byId,
    status: 200,
    response: organization,
  }),

  list: route({
    method: 'get',
    path: '/organization/list',
    summary: 'List organizations',
    access: 'view',
    status: 200,
    response: z.array(organization),
  }),
}
