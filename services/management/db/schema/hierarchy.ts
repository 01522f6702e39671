import type { Customer, Organization, Placement, Site } from '@eyrie/contract/management/index'
import { sql } from 'drizzle-orm'
import {
  boolean,
  check,
  foreignKey,
  index,
  jsonb,
  pgTable,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { createdAt, key, optionalText } from './columns.ts'

// Columns have the names of API fields, so that the API can return rows unchanged.

/** The owner of customers and sites. */
export const organization = pgTable('organization', {
  organization_id: key().primaryKey(),
  organization_key: text().notNull().unique(),
  organization_name: text().notNull(),
  organization_description: text().notNull(),
  organization_icon: text().notNull(),
  organization_website: text().notNull(),
  organization_address: jsonb().$type<Organization['organization_address']>().notNull(),
  created_at: createdAt(),
})

/**
 * A customer of an organization. The default customer has all sites that are not assigned
 * to another customer.
 */
export const customer = pgTable(
  'customer',
  {
    customer_id: key().primaryKey(),
    organization_id: uuid()
      .notNull()
      .references(() => organization.organization_id),
    customer_key: text().notNull(),
    customer_name: text().notNull(),
    customer_description: optionalText(),
    customer_icon: optionalText(),
    customer_type: optionalText(),
    customer_contact: text().array().notNull().default([]),
    customer_address: jsonb().$type<Customer['customer_address']>().notNull(),
    is_default: boolean().notNull().default(false),
    created_at: createdAt(),
  },
  table => [
    unique('customer_key_in_organization').on(table.organization_id, table.customer_key),
    unique('customer_in_organization').on(table.customer_id, table.organization_id),
    uniqueIndex('one_default_customer').on(table.organization_id).where(sql`is_default`),
  ],
)

/**
 * A location with devices. A foreign key ensures that the site and its customer belong to
 * the same organization.
 */
export const site = pgTable(
  'site',
  {
    site_id: key().primaryKey(),
    organization_id: uuid()
      .notNull()
      .references(() => organization.organization_id),
    customer_id: uuid().notNull(),
    site_key: text().notNull(),
    site_name: text().notNull(),
    site_description: optionalText(),
    site_icon: optionalText(),
    site_image: optionalText(),
    site_type: optionalText(),
    site_address: jsonb().$type<Site['site_address']>().notNull(),
    site_timezone: text().notNull().default('UTC'),
    /**
     * Who chooses the engines of the sources at the site: a person (`pinned`), or
     * management (`automatic`).
     */
    site_placement: text().$type<Placement>().notNull().default('pinned'),
    /** Whether automatic placement distributes the sources over as many engines as possible. */
    site_is_spread: boolean().notNull().default(false),
    created_at: createdAt(),
  },
  table => [
    check('site_placement_values', sql`${table.site_placement} in ('pinned', 'automatic')`),
    foreignKey({
      name: 'site_customer',
      columns: [table.customer_id, table.organization_id],
      foreignColumns: [customer.customer_id, customer.organization_id],
    }),
    unique('site_key_in_organization').on(table.organization_id, table.site_key),
    unique('site_in_organization').on(table.site_id, table.organization_id),
    index('site_by_customer').on(table.customer_id),
  ],
)
