-- +goose Up

-- A block without a claim has no lease.
ALTER TABLE blocks ADD CONSTRAINT blocks_lease_needs_claim
    CHECK (claim_id IS NOT NULL OR leased_until <= 'epoch');

-- A block keeps its place, and a claim its rect, which stands in one place only.
CREATE TRIGGER blocks_keep_their_place BEFORE UPDATE OF y, x ON blocks
    FOR EACH STATEMENT EXECUTE FUNCTION forbid();
CREATE TRIGGER rentals_keep_their_rect BEFORE UPDATE OF id, x, y, w, h ON rentals
    FOR EACH STATEMENT EXECUTE FUNCTION forbid();
CREATE TRIGGER blocked_keep_their_rect BEFORE UPDATE OF id, x, y, w, h ON blocked_areas
    FOR EACH STATEMENT EXECUTE FUNCTION forbid();

-- A claim has all blocks of its rect or none, and one lease on all of them. It
-- follows by induction: a statement that touches a block of a claim touches
-- exactly the rect of that claim, whether the claim had the blocks before it
-- (extended, emptied) or has them after it (taken, extended). The smallest box
-- around the touched blocks and their number tell, without a look at any other
-- block, so it costs the same on a full canvas. The claim's row must be there
-- before its blocks.
-- +goose StatementBegin
CREATE FUNCTION claims_stay_whole() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    torn bigint;
BEGIN
    -- Nearly always one rental is taken, extended or emptied, alone: then this
    -- is enough, and it is cheap.
    PERFORM
    FROM (SELECT count(*) AS n, count(claim_id) AS owned, min(claim_id) AS c1, max(claim_id) AS c2,
                 min(leased_until) AS l1, max(leased_until) AS l2,
                 min(x) AS x1, max(x) AS x2, min(y) AS y1, max(y) AS y2
          FROM blocks_after) AS a,
         (SELECT count(claim_id) AS owned, min(claim_id) AS c1, max(claim_id) AS c2
          FROM blocks_before) AS b,
         rentals AS r
    WHERE r.id = coalesce(a.c1, b.c1)
      AND r.x = a.x1 AND r.x + r.w - 1 = a.x2 AND r.y = a.y1 AND r.y + r.h - 1 = a.y2 AND r.w * r.h = a.n
      AND (a.owned = 0 OR a.owned = a.n AND a.c2 = r.id AND a.l1 = a.l2)
      AND (b.owned = 0 OR b.owned = a.n AND b.c1 = r.id AND b.c2 = r.id);
    IF FOUND THEN
        RETURN NULL;
    END IF;

    -- Anything else: each claim by itself, before and after.
    SELECT touched.claim_id INTO torn
    FROM (
        SELECT claim_id, min(x) AS x1, max(x) AS x2, min(y) AS y1, max(y) AS y2, count(*) AS n,
               min(leased_until) = max(leased_until) AS one_lease
        FROM (
            SELECT 'before' AS side, claim_id, x, y, leased_until FROM blocks_before WHERE claim_id IS NOT NULL
            UNION ALL
            SELECT 'after', claim_id, x, y, leased_until FROM blocks_after WHERE claim_id IS NOT NULL
        ) AS b
        GROUP BY side, claim_id
    ) AS touched
    LEFT JOIN LATERAL (
        SELECT x, y, w, h FROM rentals WHERE id = touched.claim_id
        UNION ALL
        SELECT x, y, w, h FROM blocked_areas WHERE id = touched.claim_id
    ) AS r ON true
    WHERE (r.x, r.x + r.w - 1, r.y, r.y + r.h - 1, r.w * r.h, true) IS DISTINCT FROM (x1, x2, y1, y2, n, one_lease)
    LIMIT 1;
    IF torn IS NOT NULL THEN
        RAISE EXCEPTION 'claim % would have a part of its rect, blocks outside it, or more than one lease', torn
            USING ERRCODE = 'integrity_constraint_violation', TABLE = 'blocks', CONSTRAINT = 'claims_stay_whole';
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER claims_stay_whole AFTER UPDATE ON blocks
    REFERENCING OLD TABLE AS blocks_before NEW TABLE AS blocks_after
    FOR EACH STATEMENT EXECUTE FUNCTION claims_stay_whole();

-- The turnstile itself: three functions that write the blocks of a rect in the
-- order (y, x), the only order in which anybody locks blocks, and stop at the
-- first one that is not to be had. What was written until then is undone by
-- the subtransaction, which gives the locks back at once, not only when the
-- caller gets round to it.
--
-- An UPDATE locks blocks in the order in which its plan finds them. The
-- settings of these functions leave one plan, along the primary key, and keep
-- it. A test watches the order on a scattered table.

-- refuse_blocks ends an attempt. A condition that needs a block to be one's
-- own calls it otherwise; it sees the block as it is after the wait for a lock.
-- +goose StatementBegin
CREATE FUNCTION refuse_blocks(running boolean) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'refused' USING ERRCODE = CASE WHEN running THEN 'TV001' ELSE 'TV002' END;
END $$;
-- +goose StatementEnd

-- claim_blocks takes rows y1 to y2, columns x1 to x2, if every block is free of
-- other claims: 'won'. Else a running lease of another ('taken') or a claim that
-- lapsed and is not over ('moved') is in the way, and nothing has changed.
-- +goose StatementBegin
CREATE FUNCTION claim_blocks(claim bigint, y1 smallint, y2 smallint, x1 smallint, x2 smallint, until timestamptz)
RETURNS text LANGUAGE plpgsql
SET enable_indexscan = on SET enable_bitmapscan = off SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    UPDATE blocks
    SET claim_id = claim, leased_until = until
    WHERE y BETWEEN y1 AND y2 AND x BETWEEN x1 AND x2
      AND CASE WHEN claim_id <> claim THEN refuse_blocks(leased_until > now()) ELSE true END;
    RETURN 'won';
EXCEPTION
    WHEN SQLSTATE 'TV001' THEN RETURN 'taken';
    WHEN SQLSTATE 'TV002' THEN RETURN 'moved';
END $$;
-- +goose StatementEnd

-- take_over_blocks is claim_blocks for a claim that is given the blocks of
-- others, whole: gives, with the rects they have. Blocks of theirs that it did
-- not ask for are emptied. all_ and the like bound all rects together. A claim
-- in gives that has not what it should is 'moved' too.
-- +goose StatementBegin
CREATE FUNCTION take_over_blocks(claim bigint, y1 smallint, y2 smallint, x1 smallint, x2 smallint, until timestamptz,
    gives bigint[], gives_y1 smallint[], gives_y2 smallint[], gives_x1 smallint[], gives_x2 smallint[],
    all_y1 smallint, all_y2 smallint, all_x1 smallint, all_x2 smallint)
RETURNS text LANGUAGE plpgsql
SET enable_indexscan = on SET enable_bitmapscan = off SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    UPDATE blocks
    SET claim_id = CASE WHEN y BETWEEN y1 AND y2 AND x BETWEEN x1 AND x2 THEN claim END,
        leased_until = CASE WHEN y BETWEEN y1 AND y2 AND x BETWEEN x1 AND x2 THEN until ELSE 'epoch' END
    WHERE y BETWEEN all_y1 AND all_y2 AND x BETWEEN all_x1 AND all_x2
      AND CASE
          WHEN y BETWEEN y1 AND y2 AND x BETWEEN x1 AND x2 THEN
              CASE WHEN claim_id <> claim AND claim_id <> ALL (gives) THEN refuse_blocks(leased_until > now()) ELSE true END
          WHEN EXISTS (SELECT FROM unnest(gives_y1, gives_y2, gives_x1, gives_x2) AS g(y1, y2, x1, x2)
                       WHERE blocks.y BETWEEN g.y1 AND g.y2 AND blocks.x BETWEEN g.x1 AND g.x2) THEN
              CASE WHEN claim_id = ANY (gives) THEN true ELSE refuse_blocks(false) END
          ELSE false
          END;
    RETURN 'won';
EXCEPTION
    WHEN SQLSTATE 'TV001' THEN RETURN 'taken';
    WHEN SQLSTATE 'TV002' THEN RETURN 'moved';
END $$;
-- +goose StatementEnd

-- keep_blocks extends a lease to until, or gives the blocks back when until is
-- null, if all of them are the claim's own: true. Else nothing has changed.
-- +goose StatementBegin
CREATE FUNCTION keep_blocks(claim bigint, y1 smallint, y2 smallint, x1 smallint, x2 smallint, until timestamptz)
RETURNS boolean LANGUAGE plpgsql
SET enable_indexscan = on SET enable_bitmapscan = off SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    UPDATE blocks
    SET claim_id = CASE WHEN until IS NOT NULL THEN claim END, leased_until = coalesce(until, 'epoch')
    WHERE y BETWEEN y1 AND y2 AND x BETWEEN x1 AND x2
      AND CASE WHEN claim_id = claim THEN true ELSE refuse_blocks(false) END;
    RETURN true;
EXCEPTION
    WHEN SQLSTATE 'TV002' THEN RETURN false;
END $$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION keep_blocks, take_over_blocks, claim_blocks, refuse_blocks;
DROP TRIGGER claims_stay_whole ON blocks;
DROP FUNCTION claims_stay_whole;
DROP TRIGGER blocked_keep_their_rect ON blocked_areas;
DROP TRIGGER rentals_keep_their_rect ON rentals;
DROP TRIGGER blocks_keep_their_place ON blocks;
ALTER TABLE blocks DROP CONSTRAINT blocks_lease_needs_claim;
