import { z } from 'zod'
import { sourceChannel } from './channel.ts'
import { route } from './management-route.ts'
import { key, name, recordId, reference, referenceIds, text } from './record-fields.ts'
import { siteView } from './site.ts'
import { usecase } from './usecase.ts'

/**
 * A customer in a request of the management API. Organizations have customers, and
 * customers have sites.
 */
export const customerInput = z.strictObject({
  organization_id: reference('organization'),
  customer_key: key,
  customer_name: name,
  customer_description: text,
  customer_icon: text,
  customer_type: text.default(''),
  customer_contact: z.array(text).default([]),
  customer_sites: referenceIds('site').default([]),
  customer_address: z.strictObject({
    customer_area: text.default(''),
    customer_city: text.default(''),
    customer_country: text.default(''),
    customer_state: text.default(''),
    customer_street: text.default(''),
    customer_unit: text.default(''),
    customer_zip: text.default(''),
  }),
})

/** A customer in a response, with the ids of the sites that are assigned to the customer. */
export const customer = z
  .object({
    ...customerInput.shape,
    customer_id: recordId,
    organization_id: recordId,
    customer_type: z.string(),
    customer_contact: z.array(z.string()),
    customer_sites: z.array(recordId),
  })
  .meta({ id: 'Customer' })
export type Customer = z.infer<typeof customer>

const byId = z.strictObject({ customer_id: reference('customer') })
const siteAssignment = byId.extend({ site_ids: referenceIds('site') })

/**
 * Each organization has a default customer. It has the sites that are assigned to no other
 * customer.
 */
const includesDefault = z
  .stringbool({ truthy: ['true', '1'], falsy: ['false', '0', ''] })
  .default(false)
  .meta({ description: 'Whether the list contains the default customer too' })

const customerAssignment = z.strictObject({
  user_id: reference('user'),
  // A list in spite of its name, which existing clients send.
  customer_id: referenceIds('customer'),
})

/** A usecase, with the channels of a customer that analyse video for it. */
const usecaseView = z
  .object({ ...usecase.shape, usecase_channels: z.array(sourceChannel) })
  .meta({ id: 'UsecaseView' })

/** A number that is text in the query. The OpenAPI document shows the number. */
const viewType = z.enum(['1', '2']).meta({
  type: 'integer',
  enum: [1, 2],
  description: '1: sites with their devices; 2: usecases with their channels',
})

export const customerRoutes = {
  create: route({
    method: 'post',
    path: '/customer/create',
    summary: 'Create a customer',
    access: 'administer',
    body: customerInput,
    ignoredFields: ['customer_id'],
    status: 201,
    response: null,
    readBack: { path: '/customer/id', by: 'customer_id' },
  }),

  update: route({
    method: 'post',
    path: '/customer/update',
    summary: 'Update a customer',
    description: 'Omitted type, contact and sites are preserved.',
    access: 'administer',
    body: customerInput.extend({
      ...byId.shape,
      customer_type: text.optional(),
      customer_contact: z.array(text).optional(),
      customer_sites: referenceIds('site').optional(),
    }),
    status: 200,
    response: null,
  }),

  delete: route({
    method: 'post',
    path: '/customer/delete',
    summary: 'Delete a customer',
    access: 'administer',
    body: byId,
    status: 200,
    response: null,
  }),

  assignSites: route({
    method: 'post',
    path: '/customer/site/assign',
    summary: 'Assign sites to a customer',
    access: 'administer',
    body: siteAssignment,
    status: 200,
    response: null,
  }),

  unassignSites: route({
    method: 'post',
    path: '/customer/site/unassign',
    summary: 'Unassign sites from a customer',
    description: 'The sites return to the default customer.',
    access: 'administer',
    body: siteAssignment,
    status: 200,
    response: null,
  }),

  assign: route({
    method: 'post',
    path: '/customer/assign',
    summary: 'Assign customers to a user',
    access: 'administer',
    requiresSession: true,
    body: customerAssignment,
    status: 200,
    response: null,
  }),

  unassign: route({
    method: 'post',
    path: '/customer/unassign',
    summary: 'Unassign customers from a user',
    access: 'administer',
    requiresSession: true,
    body: customerAssignment,
    status: 200,
    response: null,
  }),

  get: route({
    method: 'get',
    path: '/customer/id',
    summary: 'Get a customer',
    access: 'view',
    query: byId,
    status: 200,
    response: customer,
  }),

  list: route({
    method: 'get',
    path: '/customer/list',
    summary: 'List the customers of an organization',
    access: 'view',
    query: z.strictObject({
      organization_id: reference('organization'),
      is_default: includesDefault,
    }),
    status: 200,
    response: z.array(customer),
  }),

  view: route({
    method: 'get',
    path: '/customer/view',
    summary: 'Get the channels of a customer',
    description: 'By site (type 1) or by usecase (type 2).',
    access: 'view',
    query: byId.extend({ type: viewType }),
    status: 200,
    mayBeStale: true,
    response: z.union([z.array(siteView), z.array(usecaseView)]),
  }),
}
