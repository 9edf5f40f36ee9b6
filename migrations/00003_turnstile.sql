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

-- +goose Down
DROP TRIGGER claims_stay_whole ON blocks;
DROP FUNCTION claims_stay_whole;
DROP TRIGGER blocked_keep_their_rect ON blocked_areas;
DROP TRIGGER rentals_keep_their_rect ON rentals;
DROP TRIGGER blocks_keep_their_place ON blocks;
ALTER TABLE blocks DROP CONSTRAINT blocks_lease_needs_claim;
