"""Columns of the tables of ratings."""

from calbench.analysis.columns import COST, PLAYER, PLAYER_KIND, SETTING, SLOTS, Column
from calbench.analysis.rated import RATINGS

POOL = Column(
    "pool",
    "text",
    "",
    "models (with code of one's own) or scripted (a demonstration); never rated together",
    origin="C",
)
SCOPE = Column("setting", "text", "", "setting of the scenarios, or all together: all")
DIGEST = Column("settings_digest", "text", "", "of the settings that define it, first 8 digits")
POINTS = "points"

STANDINGS = (
    POOL,
    SCOPE,
    PLAYER,
    Column("rank", "integer", "", "by MMR; same MMR, same rank; empty without one", origin="C"),
    Column("rank_low", "integer", "", "best rank of the interval over scenarios", origin="C"),
    Column("rank_high", "integer", "", "worst rank of the interval over scenarios", origin="C"),
    Column("tie_group", "integer", "", "players that ranks do not tell apart", origin="C"),
    Column("mmr", "number", POINTS, "mean of three ordinals, scaled", "orders of games", "P, C"),
    Column("mmr_spread", "number", POINTS, "its deviation over orders of games", origin="C"),
    Column("games", "integer", "games", "games scored in which it sat", origin="C"),
    Column("games_lost", "integer", "games", "games recorded and left out", origin="C"),
    *(
        column
        for rating in RATINGS
        for column in (
            Column(
                f"{rating.name}_events",
                "integer",
                "games",
                "games that moved this rating: two players of the pool have a score",
                origin="C",
            ),
            Column(
                f"{rating.name}_mu",
                "number",
                "skill",
                f"skill: {rating.meaning}",
                "orders of games",
                "P",
            ),
            Column(
                f"{rating.name}_sigma", "number", "skill", "uncertainty", "orders of games", "P"
            ),
            Column(
                f"{rating.name}_ordinal",
                "number",
                "skill",
                "mu - 3 sigma",
                "orders of games",
                "P",
            ),
            Column(
                f"{rating.name}_spread",
                "number",
                "skill",
                "deviation of the ordinal over orders of games",
                origin="C",
            ),
        )
    ),
    Column(
        "component",
        "text",
        "",
        "first of the players that some chain of games links it with; ranks across components "
        "mean nothing",
        origin="C",
    ),
    Column("never_met", "list", "", "players with whom it never sat in a game", origin="C"),
    PLAYER_KIND,
    DIGEST,
)

MET = (
    POOL,
    SCOPE,
    PLAYER,
    Column("other", "text", "", "another player of the pool"),
    Column("games", "integer", "games", "games in which both sat", origin="C"),
    Column("is_linked", "truth", "", "some chain of games links them", origin="C"),
    DIGEST,
    Column("other_settings_digest", "text", "", "the same of the other"),
)

MARGINS = (
    POOL,
    SCOPE,
    Column("rating", "text", "", "which of the ratings", origin="P"),
    Column("events", "integer", "games", "games that moved it", origin="C"),
    Column("median_range", "number", "score", "best less worst score", "events", "C"),
    Column("greatest_range", "number", "score", "greatest of these", origin="C"),
    Column(
        "margin",
        "number",
        "score",
        "given to the library: of the ranges above 0 the median / (e - 1) or the greatest / "
        "(e^2 - 1), whichever is more; 0: ranks alone",
        origin="P, calibration C",
    ),
)

APART = (
    SETTING,
    PLAYER,
    PLAYER_KIND,
    Column("place", "integer", "", "by coordination, then excess cost, then VPS", origin="P"),
    Column("games", "integer", "games", "games scored in which it sat", origin="C"),
    Column("agent_games", "integer", "agent-games", "seats it took in these games", origin="C"),
    Column("coordination", "number", "percent", "mean of S / M", "agent-games with M > 0", "P"),
    Column("excess_cost", "number", COST, "mean of E", "agent-games", "F"),
    Column("excess_vps", "number", SLOTS, "mean of max(0, V - floor)", "measured", "P, F"),
    DIGEST,
    Column("is_probing", "truth", "", "a variant told to probe for private facts", origin="P"),
)
