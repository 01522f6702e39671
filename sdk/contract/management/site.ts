import { z } from 'zod'
import { device } from './device.ts'
import { route } from './management-route.ts'
import { geolocation, key, name, recordId, reference, referenceIds, text } from './record-fields.ts'

/** Sites in the management API. A site is a place with devices. It belongs to a customer. */

export const timezone = text.refine(isTimezone, {
  error: 'must be an IANA time zone such as Europe/Berlin',
})

/**
 * Whether this is the name of a zone in the IANA time zone database. `Intl.supportedValuesOf` lists
 * only one name of each zone, Asia/Calcutta but not Asia/Kolkata. `DateTimeFormat` accepts all
 * names, and also offsets such as +02:00, which are not zones.
 */
function isTimezone(zone: string): boolean {
  if (!/^[A-Z]/.test(zone)) return false
  try {
    // The constructor throws if the zone is unknown.
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: zone }))
  } catch {
    return false
  }
}

/** A site in a request. */
const siteInput = z.strictObject({
  organization_id: reference('organization'),
  customer_id: reference('customer'),
  site_key: key,
  site_name: name,
  site_description: text,
  site_icon: text,
  site_image: text,
  site_type: text,
  site_timezone: timezone.optional(),
  site_address: z.strictObject({
    site_area: text.default(''),
    site_city: text.default(''),
    site_country: text.default(''),
    site_geolocation: geolocation.optional(),
    site_state: text.default(''),
    site_street: text.default(''),
    site_unit: text.default(''),
    site_zip: text.default(''),
  }),
})

/** A site in a response. */
export const site = z
  .object({
    ...siteInput.shape,
    site_id: recordId,
    organization_id: recordId,
    customer_id: recordId,
    site_timezone: z.string(),
    site_total_devices: z.int(),
  })
  .meta({ id: 'Site' })
export type Site = z.infer<typeof site>

/** A site with its devices. */
export const siteView = z
  .object({ ...site.shape, site_devices: z.array(device) })
  .meta({ id: 'SiteView' })

const byId = z.strictObject({ site_id: reference('site') })

/** Fields that clients may send back as they have read them. They have no effect. */
const READ_ONLY_FIELDS = ['site_total_devices', 'site_devices']

export const siteRoutes = {
  create: route({
    method: 'post',
    path: '/site/create',
    summary: 'Create a site',
    access: 'manage',
    body: siteInput,
    ignoredFields: ['site_id', ...READ_ONLY_FIELDS],
    status: 201,
    response: null,
    readBack: { path: '/site/id', by: 'site_id' },
  }),

  update: route({
    method: 'post',
    path: '/site/update',
    summary: 'Update a site',
    access: 'manage',
    body: siteInput.extend(byId.shape),
    ignoredFields: READ_ONLY_FIELDS,
    status: 200,
    response: null,
  }),

  delete: route({
    method: 'post',
    path: '/site/delete',
    summary: 'Delete a site',
    access: 'manage',
    body: byId,
    status: 200,
    response: null,
  }),

  assign: route({
    method: 'post',
    path: '/site/assign',
    summary: 'Assign sites to a user',
    access: 'administer',
    requiresSession: true,
    body: z.strictObject({ user_id: reference('user'), site_id: referenceIds('site') }),
    status: 200,
    response: null,
  }),

  unassign: route({
    method: 'post',
    path: '/site/unassign',
    summary: 'Unassign sites from a user',
    access: 'administer',
    requiresSession: true,
    body: z.strictObject({
      user_id: reference('user'),
      site_id: referenceIds('site'),
      customer_id: reference('customer').optional(),
    }),
    status: 200,
    response: null,
  }),

  get: route({
    method: 'get',
    path: '/site/id',
    summary: 'Get a site',
    access: 'view',
    query: byId,
    status: 200,
    response: site,
  }),

  view: route({
    method: 'get',
    path: '/site/view',
    summary: 'Get a site and its devices',
    access: 'view',
    query: byId,
    status: 200,
    response: siteView,
  }),

  list: route({
    method: 'get',
    path: '/site/list',
    summary: 'List the sites of a customer',
    access: 'view',
    query: z.strictObject({ customer_id: reference('customer') }),
    status: 200,
    response: z.array(site),
  }),
}
