import type { User } from '@eyrie/contract/management/index'
import { sql } from 'drizzle-orm'
import {
  boolean,
  check,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { channel, usecase } from './channel.ts'
import { createdAt, instant, key, optionalText } from './columns.ts'
import { customer, organization, site } from './hierarchy.ts'

/** A role of users. The rights of each role are defined in code. */
export const role = pgTable(
  'role',
  {
    role_id: key().primaryKey(),
    role_key: text().notNull().unique(),
    role_name: text().notNull(),
  },
  table => [
    check(
      'role_key_values',
      sql`${table.role_key} in ('superadmin', 'admin', 'manager', 'viewer')`,
    ),
  ],
)

/**
 * An account of a person. A user needs a role, and must be active and verified, to have any rights.
 */
export const user = pgTable(
  'user',
  {
    user_id: key().primaryKey(),
    email: text().notNull(),
    first_name: text().notNull(),
    last_name: text().notNull(),
    user_name: text().notNull(),
    avatar: optionalText(),
    /** Null until an administrator assigns a role. */
    role_id: uuid().references(() => role.role_id),
    /** The role requested at registration. It grants no rights. */
    role_wish: optionalText(),
    /**
     * The user's organization. Its admins manage the user; an admin administers this organization.
     */
    organization_id: uuid().references(() => organization.organization_id),
    is_active: boolean().notNull().default(true),
    is_verified: boolean().notNull().default(false),
    /** Argon2id in encoded form (`$argon2id$…`). */
    password_hash: text().notNull(),
    ui_config: jsonb().$type<User['ui_config']>().notNull().default({}),
    last_logged_in_at: instant(),
    created_at: createdAt(),
  },
  table => [uniqueIndex('user_email').on(sql`lower(${table.email})`)],
)

/** A column that refers to a user; the row is deleted together with the user. */
export const userId = () =>
  uuid()
    .notNull()
    .references(() => user.user_id, { onDelete: 'cascade' })

/** A customer whose sites a user may access. */
export const userCustomer = pgTable(
  'user_customer',
  {
    user_id: userId(),
    customer_id: uuid()
      .notNull()
      .references(() => customer.customer_id, { onDelete: 'cascade' }),
  },
  table => [primaryKey({ columns: [table.user_id, table.customer_id] })],
)

/** A site that a user may access. */
export const userSite = pgTable(
  'user_site',
  {
    user_id: userId(),
    site_id: uuid()
      .notNull()
      .references(() => site.site_id, { onDelete: 'cascade' }),
  },
  table => [primaryKey({ columns: [table.user_id, table.site_id] })],
)

/** A channel that a user may access even without access to its site. */
export const userChannel = pgTable(
  'user_channel',
  {
    user_id: userId(),
    channel_id: uuid()
      .notNull()
      .references(() => channel.channel_id, { onDelete: 'cascade' }),
  },
  table => [primaryKey({ columns: [table.user_id, table.channel_id] })],
)

/**
 * A usecase that a user is limited to. A user without rows may access the channels of all usecases.
 */
export const userUsecase = pgTable(
  'user_usecase',
  {
    user_id: userId(),
    usecase_id: uuid()
      .notNull()
      .references(() => usecase.usecase_id, { onDelete: 'cascade' }),
  },
  table => [primaryKey({ columns: [table.user_id, table.usecase_id] })],
)
